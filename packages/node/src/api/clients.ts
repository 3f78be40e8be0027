import type { Attachment, SessionRecord } from '@apus/broker';
import { type DisconnectPacket, ReasonCode } from '@apus/mqtt';
import { TENANT } from '../auth/anonymous.ts';
import { CONNECTION_ID_PREFIX } from '../connections.ts';
import { type ApiAnswer, badRequest, refusal } from './answer.ts';
import { type ApiContext, NODE_NAME, rfc3339 } from './context.ts';
import { isAnswer, pageAnswer, pageOf, pagingOf } from './paging.ts';
import type { ApiRequest, ApiRoute } from './router.ts';

const REASON = 'An administrator has ended this connection';

/** Clients that are connected, and sessions that wait for theirs. */
export function clientRoutes(context: ApiContext): readonly ApiRoute[] {
  return [
    { method: 'GET', path: '/clients', handle: ({ query }) => list(context, query) },
    { method: 'GET', path: '/clients/:clientid', handle: (request) => one(context, request) },
    { method: 'DELETE', path: '/clients/:clientid', handle: (request) => end(context, request) },
  ];
}

async function list(context: ApiContext, query: URLSearchParams): Promise<ApiAnswer> {
  const paging = pagingOf(query);
  if (isAnswer(paging)) return paging;
  const state = query.get('conn_state');
  if (state !== null && state !== 'connected' && state !== 'disconnected')
    return badRequest('conn_state is connected or disconnected.');
  const { entries, count } = pageOf(fitting(context.stores.sessions.all(), query), paging);
  const data = await Promise.all(entries.map((record) => describe(context, record)));
  return pageAnswer(data, paging, count);
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

async function one(context: ApiContext, { parameters }: ApiRequest): Promise<ApiAnswer> {
  const record = await context.stores.sessions.get(TENANT, parameters.clientid ?? '');
  if (record === undefined) return notFound(parameters.clientid);
  return { status: 200, body: await describe(context, record) };
}

/** DISCONNECT 0x98 where the version has it, and the close. The session stays as long as its client asked for. */
async function end(context: ApiContext, { parameters }: ApiRequest): Promise<ApiAnswer> {
  const record = await context.stores.sessions.get(TENANT, parameters.clientid ?? '');
  if (record?.attachment === undefined) return notFound(parameters.clientid);
  const link = context.links.get(record.attachment.connectionId);
  if (link !== undefined) link.disconnect(ReasonCode.AdministrativeAction, REASON);
  else await endAtGateway(context, record.session.clientId, record.attachment);
  return { status: 204 };
}

/** The gateway forgets a connection that it was told to close, so nobody else would tell the session. */
async function endAtGateway(
  { connections, broker }: ApiContext,
  clientId: string,
  { connectionId, protocolVersion }: Attachment,
): Promise<void> {
  const disconnect: DisconnectPacket = {
    type: 'disconnect',
    reasonCode: ReasonCode.AdministrativeAction,
    properties: { reasonString: REASON },
  };
  try {
    // Before MQTT 5 no server sends DISCONNECT.
    await connections.close(connectionId, protocolVersion === 5 ? disconnect : undefined);
  } finally {
    await broker.lostUnnoticed(TENANT, clientId, connectionId);
  }
}

export function notFound(clientId: string | undefined): ApiAnswer {
  return refusal(
    404,
    'CLIENTID_NOT_FOUND',
    `No client "${clientId}" is connected, and no session waits for it.`,
  );
}

/** EMQX's names. `door`, `will` and `expires_at` are ours. */
async function describe({ stores, links, clock }: ApiContext, record: SessionRecord): Promise<object> {
  const { session, attachment, identity, expirySeconds, attachedAtMs, detachedAtMs } = record;
  const link = attachment && links.get(attachment.connectionId);
  const connection = link?.state.phase === 'connected' ? link.state.connection : undefined;
  const { ip, port } = addressOf(link?.peer.address);
  return {
    node: NODE_NAME,
    clientid: session.clientId,
    username: identity.name === '' ? null : identity.name,
    connected: attachment !== undefined,
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
    will: record.will?.topic ?? null,
  };
}

export function doorOf(connectionId: string): 'node' | 'gateway' {
  return connectionId.startsWith(CONNECTION_ID_PREFIX) ? 'node' : 'gateway';
}

function addressOf(address: string | undefined): {
  readonly ip: string | null;
  readonly port: number | null;
} {
  const colon = address?.lastIndexOf(':') ?? -1;
  if (address === undefined || colon === -1) return { ip: null, port: null };
  return { ip: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}
