import { ReasonCode } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { sendToAll } from '../deliver/wide.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Identity } from '../model/identity.ts';
import type { Connection, Link } from '../model/link.ts';
import type { ConnectionId, SessionRef } from '../model/session.ts';
import type { SessionRecord } from '../ports/index.ts';

/** Why a connection has ended, in EMQX's words. */
export type DisconnectReason =
  | 'normal'
  | 'disconnect_with_will_message'
  | 'tcp_closed'
  | 'keepalive_timeout'
  | 'kicked'
  | 'takenover'
  | 'discarded'
  | 'server_shutting_down'
  | 'not_authorized'
  | 'protocol_error';

/** Characters that would split a client identifier into levels, or make a topic filter of it. */
const NOT_IN_LEVEL = /[%/+#]/g;

/** `$SYS/brokers/NODE/clients/ID/connected`: tells backends that a client has connected. */
export function* tellConnected(
  context: Context,
  link: Link,
  connection: Connection,
  cleanStart: boolean,
): Flow<void> {
  const { session, identity, protocolVersion, keepAliveSeconds, expirySeconds, connectedAtMs } = connection;
  yield* tell(context, session, 'connected', () => ({
    ...namesOf(session, identity, protocolVersion),
    ipaddress: link.peer.host ?? null,
    keepalive: keepAliveSeconds,
    expiry_interval: expirySeconds,
    clean_start: cleanStart,
    connack: 0,
    connected_at: connectedAtMs,
    ts: context.ports.clock.now(),
  }));
}

/** `$SYS/brokers/NODE/clients/ID/disconnected`: tells backends that a connection has ended, and why. */
export function* tellDisconnected(
  context: Context,
  { session, identity, attachedAtMs }: Pick<SessionRecord, 'session' | 'identity' | 'attachedAtMs'>,
  connectionId: ConnectionId,
  atMs: number,
  reason: DisconnectReason,
): Flow<void> {
  const { tenant, clientId } = session;
  const { name, address } = identity;
  context.ports.log.debug('disconnected', { connectionId, tenant, name, clientId, address, reason });
  yield* tell(context, session, 'disconnected', () => ({
    ...namesOf(session, identity, undefined),
    reason,
    connected_at: attachedAtMs,
    disconnected_at: atMs,
    ts: context.ports.clock.now(),
  }));
}

/** The reason of a DISCONNECT that the broker sends. */
export function reasonOfCode(code: number): DisconnectReason {
  switch (code) {
    case ReasonCode.KeepAliveTimeout:
      return 'keepalive_timeout';
    case ReasonCode.ServerShuttingDown:
      return 'server_shutting_down';
    case ReasonCode.NotAuthorized:
      return 'not_authorized';
    case ReasonCode.AdministrativeAction:
      return 'kicked';
    default:
      return 'protocol_error';
  }
}

function namesOf({ clientId }: SessionRef, { name }: Identity, protocolVersion: number | undefined): object {
  return {
    clientid: clientId,
    username: name === '' ? null : name,
    proto_name: 'MQTT',
    ...(protocolVersion !== undefined && { proto_ver: protocolVersion }),
  };
}

/** Where no backend has subscribed, this costs one look for subscribers. */
function* tell(
  context: Context,
  { tenant, clientId }: SessionRef,
  what: 'connected' | 'disconnected',
  content: () => object,
): Flow<void> {
  const { nodeName, subscriptions } = context.ports;
  if (nodeName === undefined) return;
  const id = clientId.replaceAll(NOT_IN_LEVEL, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
  const topic = `$SYS/brokers/${nodeName}/clients/${id}/${what}`;
  const matched = yield* waitFor(subscriptions.match(tenant, topic));
  if (matched.length === 0) return;
  const message = {
    id: context.messageClock.next(),
    topic,
    payload: Buffer.from(JSON.stringify(content())),
    qos: 1,
    retain: false,
    properties: {},
    expiresAtMs: undefined,
    publisherKey: undefined,
  } as const;
  yield* sendToAll(context, tenant, message, matched);
}
