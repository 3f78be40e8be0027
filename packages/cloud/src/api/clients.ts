import { NODE_NAME } from '@apus/api';
import { DROP_NAMES, QUOTA_NAMES, type SessionRecord, type Subscription } from '@apus/broker';
import { type ClientEntry, type ClientListing, isInState } from '../operator/clients.ts';
import { type HttpAnswer, problem } from '../publish/http.ts';
import { ApiProblem } from './api-problem.ts';
import {
  type ApiContext,
  type ApiRequest,
  type Handlers,
  NO_CONTENT,
  ok,
  operate,
  rfc3339,
} from './context.ts';
import { cursorOf, pageAnswer, pagingOf, positionOf } from './pages.ts';
import { subscriptionOf } from './subscription.ts';

/** Sessions, connected or not. A list says what a walk over the table reads; one client says more. */
export function clientHandlers(context: ApiContext) {
  return {
    listClients: (request) => list(context, request),
    getClient: (request) => one(context, request),
    endClient: (request) => end(context, request),
    listClientSubscriptions: (request) => subscriptions(context, request),
  } satisfies Partial<Handlers>;
}

async function list(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const { tenant, query } = request;
  const { limit, after } = pagingOf(query);
  const state = query.get('conn_state');
  if (state !== null && state !== 'connected' && state !== 'disconnected')
    throw new ApiProblem('BAD_REQUEST', 'conn_state is connected or disconnected.');
  const [clientId, username] = [query.get('clientid') || undefined, query.get('username') || undefined];
  const asked = { action: 'clients', tenant, limit, after: positionOf(after), clientId, username };
  const { clients, next } = await operate<ClientListing>(context, request, asked);
  const part = query.get('like_clientid') ?? '';
  const fitting = clients.filter(
    (client) =>
      client.clientId.includes(part) &&
      (username === undefined || client.username === username) &&
      (state === null || isInState(client, state)),
  );
  return pageAnswer(fitting.map(clientOf), { limit }, cursorOf(next));
}

async function one(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const record = await recordOf(context, request);
  if (record === undefined) return notFound(request);
  const held = await context.subscriptions.list(record.session);
  return ok(detailsOf(record, held));
}

async function end(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const { tenant, parameters } = request;
  const asked = { action: 'kick', tenant, clientId: parameters.clientid };
  const { kicked } = await operate<{ readonly kicked: boolean }>(context, request, asked);
  return kicked ? NO_CONTENT : notFound(request);
}

async function subscriptions(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const record = await recordOf(context, request);
  if (record === undefined) return notFound(request);
  const held = await context.subscriptions.list(record.session);
  const { clientId } = record.session;
  return ok(held.map((subscription) => subscriptionOf({ clientId, subscription })));
}

async function recordOf(
  { sessions }: ApiContext,
  { tenant, parameters }: ApiRequest,
): Promise<SessionRecord | undefined> {
  return await sessions.get(tenant, parameters.clientid ?? '');
}

function notFound({ parameters }: ApiRequest): HttpAnswer {
  const message = `No client "${parameters.clientid}" is connected, and no session waits for it.`;
  return problem('CLIENTID_NOT_FOUND', message);
}

/** Figures that a deployment does not keep for each client. */
const UNKNOWN = {
  ...{ ip_address: null, port: null, keepalive: null, mqueue_len: null, mqueue_dropped: null },
  'send_msg.dropped': null,
  ...Object.fromEntries(Object.values(DROP_NAMES).map((name) => [`send_msg.dropped.${name}`, null])),
};

function clientOf({ clientId, username, token, isConnected, connectedAt }: ClientEntry): object {
  return {
    ...{ node: NODE_NAME, clientid: clientId, username, token_id: token, connected: isConnected },
    ...{ connected_at: connectedAt, disconnected_at: null, connected_seconds: null },
    ...{ door: isConnected ? 'gateway' : null, proto_name: 'MQTT', proto_ver: null, recv_maximum: null },
    ...{ expiry_interval: null, subscriptions_cnt: null, will: null },
    ...UNKNOWN,
  };
}

function detailsOf(record: SessionRecord, held: readonly Subscription[]): object {
  const { session, identity, attachment, attachedAtMs, detachedAtMs, expirySeconds, will } = record;
  const entry: ClientEntry = {
    ...{ tenant: session.tenant, clientId: session.clientId, username: identity.name || null },
    ...{ token: identity.tokenId ?? null, isConnected: attachment !== undefined },
    connectedAt: rfc3339(attachedAtMs),
  };
  return {
    ...clientOf(entry),
    disconnected_at: timeOf(detachedAtMs),
    proto_ver: attachment?.protocolVersion ?? null,
    recv_maximum: attachment?.receiveMaximum ?? null,
    expiry_interval: expirySeconds,
    subscriptions_cnt: held.length,
    will: will?.topic ?? null,
    ...{ inflight_cnt: null, recv_msg: null, recv_oct: null, send_msg: null, send_oct: null },
    identity: {
      source: identity.source ?? null,
      client_ids: identity.clientIds ?? null,
      rules: identity.rules ?? null,
      issued_at: timeOf(identity.issuedAtMs),
      expires_at: timeOf(identity.expiresAtMs),
      token_id: identity.tokenId ?? null,
      key_id: identity.keyId ?? null,
    },
    quotas: Object.fromEntries(Object.entries(identity.quotas ?? {}).filter(([name]) => isQuota(name))),
  };
}

function isQuota(name: string): boolean {
  return QUOTA_NAMES.some((each) => each === name);
}

function timeOf(atMs: number | undefined): string | null {
  return atMs === undefined ? null : rfc3339(atMs);
}
