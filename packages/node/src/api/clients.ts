import { KICK, type SessionRecord } from '@apus/broker';
import { CONNECTION_ID_PREFIX } from '../connections.ts';
import { dropFigures } from '../metrics/figures.ts';
import { type ApiAnswer, badRequest, refusal } from './answer.ts';
import { type ApiContext, rfc3339 } from './context.ts';
import { type Slice, sliceOf, type Window } from './paging.ts';
import type { Handlers } from './router.ts';
import { type Asked, ofClient, ofList } from './shared-handlers.ts';

/** Connected clients, and sessions that wait for theirs. */
export function clientHandlers(context: ApiContext) {
  return {
    listClients: ofList((asked, slice) => list(context, asked, slice)),
    getClient: ofClient((asked) => one(context, asked)),
    endClient: ofClient((asked) => end(context, asked)),
  } satisfies Partial<Handlers>;
}

async function list(
  context: ApiContext,
  { tenant, query }: Asked,
  slice: Slice,
): Promise<Window | ApiAnswer> {
  const state = query.get('conn_state');
  if (state !== null && state !== 'connected' && state !== 'disconnected')
    return badRequest('conn_state is connected or disconnected.');
  const { entries, count } = sliceOf(fitting(recordsOf(context, tenant), query), slice);
  return { entries: await Promise.all(entries.map((record) => describe(context, record))), count };
}

/** The sessions of one tenant: the same client identifier may be another client in each [SEC-TENANT-4]. */
export function* recordsOf({ stores }: ApiContext, tenant: string): Generator<SessionRecord> {
  for (const record of stores.sessions.all()) if (record.session.tenant === tenant) yield record;
}

/** By `clientid`, `like_clientid` (a part of it), `username` and `conn_state`, as in EMQX. */
function* fitting(records: Iterable<SessionRecord>, query: URLSearchParams): Generator<SessionRecord> {
  const [clientId, part] = [query.get('clientid'), query.get('like_clientid')];
  const [username, state] = [query.get('username'), query.get('conn_state')];
  for (const record of records) {
    const { session, attachment, identity } = record;
    if (clientId !== null && session.clientId !== clientId) continue;
    if (part !== null && !session.clientId.includes(part)) continue;
    if (username !== null && identity.name !== username) continue;
    if (state !== null && (state === 'connected') !== (attachment !== undefined)) continue;
    yield record;
  }
}

async function one(context: ApiContext, { tenant, parameters }: Asked): Promise<ApiAnswer> {
  const record = await context.stores.sessions.get(tenant, parameters.clientid ?? '');
  if (record === undefined) return notFound(parameters.clientid);
  return { status: 200, body: { ...(await describe(context, record)), ...detailsOf(context, record) } };
}

/** Ends the connection. The session stays as long as its client asked for. */
async function end({ broker }: ApiContext, { tenant, parameters }: Asked): Promise<ApiAnswer> {
  const isEnded = await broker.expel(tenant, parameters.clientid ?? '', KICK);
  return isEnded ? { status: 204 } : notFound(parameters.clientid);
}

export function notFound(clientId: string | undefined): ApiAnswer {
  return refusal(
    404,
    'CLIENTID_NOT_FOUND',
    `No client "${clientId}" is connected, and no session waits for it.`,
  );
}

/** EMQX's names. `door` and `will` are ours. */
async function describe(
  { nodeName, stores, links, drops, clock }: ApiContext,
  record: SessionRecord,
): Promise<object> {
  const { session, attachment, identity, expirySeconds, attachedAtMs, detachedAtMs } = record;
  const link = attachment && links.get(attachment.connectionId);
  const connection = link?.state.phase === 'connected' ? link.state.connection : undefined;
  const dropped = drops.of(session);
  const { ip, port } = addressOf(link?.peer.address);
  return {
    node: nodeName,
    clientid: session.clientId,
    username: identity.name === '' ? null : identity.name,
    connected: attachment !== undefined,
    token_id: identity.tokenId ?? null,
    connected_at: rfc3339(attachedAtMs),
    disconnected_at: detachedAtMs === undefined ? null : rfc3339(detachedAtMs),
    connected_seconds: attachment === undefined ? null : Math.floor((clock.now() - attachedAtMs) / 1000),
    door: attachment === undefined ? null : doorOf(attachment.connectionId),
    ip_address: ip,
    port,
    proto_name: 'MQTT',
    proto_ver: attachment?.protocolVersion ?? null,
    keepalive: connection?.keepAliveSeconds ?? null,
    recv_maximum: attachment?.receiveMaximum ?? null,
    expiry_interval: expirySeconds,
    subscriptions_cnt: (await stores.subscriptions.list(session)).length,
    mqueue_len: await stores.queues.length(session),
    mqueue_dropped: dropped['queue-full'] ?? 0,
    ...dropFigures('send_msg.dropped', dropped),
    will: record.will?.topic ?? null,
  };
}

/**
 * Fields that the answer for one client adds. `connection_id` is in each line of the log about the connection. Only
 * the node door's connections count their traffic.
 */
function detailsOf(
  { stores, links, quotas }: ApiContext,
  { session, attachment, identity }: SessionRecord,
): object {
  const traffic = attachment && links.get(attachment.connectionId)?.traffic;
  return {
    connection_id: attachment?.connectionId ?? null,
    inflight_cnt: stores.queues.inflight(session),
    recv_msg: traffic?.receivedMessages ?? null,
    recv_oct: traffic?.receivedBytes ?? null,
    send_msg: traffic?.sentMessages ?? null,
    send_oct: traffic?.sentBytes ?? null,
    identity: {
      source: identity.source ?? null,
      client_ids: identity.clientIds ?? null,
      rules: identity.rules ?? null,
      issued_at: timeOf(identity.issuedAtMs),
      expires_at: timeOf(identity.expiresAtMs),
      token_id: identity.tokenId ?? null,
      key_id: identity.keyId ?? null,
    },
    quotas: { ...quotas.identity, ...identity.quotas },
  };
}

function timeOf(atMs: number | undefined): string | null {
  return atMs === undefined ? null : rfc3339(atMs);
}

export function doorOf(connectionId: string): 'node' | 'gateway' {
  return connectionId.startsWith(CONNECTION_ID_PREFIX) ? 'node' : 'gateway';
}

function addressOf(address: string | undefined): {
  readonly ip: string | null;
  readonly port: number | null;
} {
  if (address === undefined) return { ip: null, port: null };
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|([^:]*)):(\d+)$/.exec(address) ?? [];
  return { ip: bracketed ?? plain ?? address, port: port === undefined ? null : Number(port) };
}
