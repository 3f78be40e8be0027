import {
  type Awaitable,
  DROP_NAMES,
  type DropCounts,
  type DropReason,
  type Identity,
  type Quotas,
  type SessionRecord,
} from '@apus/broker';
import { type Asked, listAt, mapped, type Part, type Slice, valueAt } from '../handler.ts';
import { ApiProblem } from '../problem.ts';
import type { Client, ClientDetails } from '../schemas/clients.ts';
import { rfc3339, timeOf } from '../time.ts';

/** The door of a connection. `object`: a Durable Object of Cloudflare. */
export type KnownDoor = 'node' | 'gateway' | 'object';

/** What a door knows of a client. What is absent is null in the answer. */
export interface KnownClient {
  readonly clientId: string;
  readonly identity: Identity | undefined;
  /** Null: it is not connected. */
  readonly door: KnownDoor | null;
  readonly attachedAtMs: number;
  /** Absent: the door has read a part of it. */
  readonly record?: SessionRecord | undefined;
  readonly connectedMs?: number | undefined;
  /** As `IP:PORT`, or a name. */
  readonly address?: string | undefined;
  readonly keepAliveSeconds?: number | undefined;
  readonly subscriptions?: number;
  readonly waiting?: number;
  readonly dropped?: DropCounts;
}

export interface DetailedClient extends KnownClient {
  readonly record: SessionRecord;
  /** Absent: the door does not name connections. */
  readonly connectionId?: string | null;
  readonly inflight?: number;
  readonly traffic?:
    | Readonly<Record<'receivedMessages' | 'receivedBytes' | 'sentMessages' | 'sentBytes', number>>
    | undefined;
  readonly quotas: Partial<Quotas>;
}

export interface ClientFilter {
  readonly clientId: string | undefined;
  /** Of the client identifier. */
  readonly part: string | undefined;
  readonly username: string | undefined;
  readonly isConnected: boolean | undefined;
}

export interface ClientFacts {
  /** `NODE_NAME`, or in a cluster the name of this process. */
  readonly nodeName: string;
  clients(tenant: string, filter: ClientFilter, slice: Slice): Awaitable<Part<KnownClient>>;
  client(tenant: string, clientId: string): Awaitable<DetailedClient | undefined>;
  /** Ends the connection; the session stays as long as its client asked for. False: there is no such client. */
  endClient(tenant: string, clientId: string): Awaitable<boolean>;
}

export const clientHandlers = {
  listClients: listAt('all', async (facts: ClientFacts, { tenant, query }, slice): Promise<Part<Client>> => {
    const found = await facts.clients(tenant, filterOf(query), slice);
    return mapped(found, (client) => clientOf(facts, client));
  }),
  getClient: valueAt('home', async (facts: ClientFacts, asked): Promise<ClientDetails> => {
    const client = await facts.client(asked.tenant, asked.parameters.clientid ?? '');
    if (client === undefined) throw noClient(asked);
    return detailsOf(facts, client);
  }),
  endClient: valueAt('home', async (facts: ClientFacts, asked) => {
    if (!(await facts.endClient(asked.tenant, asked.parameters.clientid ?? ''))) throw noClient(asked);
    return undefined;
  }),
};

/** By `clientid`, `like_clientid` (a part of it), `username` and `conn_state`, as in EMQX. */
function filterOf(query: URLSearchParams): ClientFilter {
  const state = query.get('conn_state');
  if (state !== null && state !== 'connected' && state !== 'disconnected')
    throw new ApiProblem('BAD_REQUEST', 'conn_state is connected or disconnected.');
  return {
    clientId: query.get('clientid') ?? undefined,
    part: query.get('like_clientid') ?? undefined,
    username: query.get('username') ?? undefined,
    isConnected: state === null ? undefined : state === 'connected',
  };
}

/** Whether a session fits; a door may have looked for its client identifier already. */
export function fitsClient(
  { part, username, isConnected }: ClientFilter,
  clientId: string,
  name: string | undefined,
  connected: boolean,
): boolean {
  return (
    (part === undefined || clientId.includes(part)) &&
    (username === undefined || name === username) &&
    (isConnected === undefined || connected === isConnected)
  );
}

export function noClient({ parameters }: Asked): ApiProblem {
  const message = `No client "${parameters.clientid}" is connected, and no session waits for it.`;
  return new ApiProblem('CLIENTID_NOT_FOUND', message);
}

/** EMQX's names. `door` and `will` are ours. */
function clientOf({ nodeName }: Pick<ClientFacts, 'nodeName'>, client: KnownClient): Client {
  const { clientId, identity, door, attachedAtMs, record, connectedMs, dropped } = client;
  const { ip, port } = addressOf(client.address);
  return {
    node: nodeName,
    clientid: clientId,
    username: identity?.name || null,
    connected: door !== null,
    token_id: identity?.tokenId ?? null,
    connected_at: rfc3339(attachedAtMs),
    disconnected_at: timeOf(record?.detachedAtMs),
    connected_seconds: connectedMs === undefined ? null : Math.floor(connectedMs / 1000),
    door,
    ip_address: ip,
    port,
    proto_name: 'MQTT',
    proto_ver: record?.attachment?.protocolVersion ?? null,
    keepalive: client.keepAliveSeconds ?? null,
    recv_maximum: record?.attachment?.receiveMaximum ?? null,
    expiry_interval: record?.expirySeconds ?? null,
    subscriptions_cnt: client.subscriptions ?? null,
    mqueue_len: client.waiting ?? null,
    mqueue_dropped: dropped === undefined ? null : (dropped['queue-full'] ?? 0),
    ...droppedOf(dropped),
    will: record?.will?.topic ?? null,
  };
}

/** `connection_id` is in each line of the log about the connection. */
function detailsOf(facts: Pick<ClientFacts, 'nodeName'>, client: DetailedClient): ClientDetails {
  const { connectionId, traffic, inflight, quotas } = client;
  const { identity } = client.record;
  return {
    ...clientOf(facts, client),
    ...(connectionId !== undefined && { connection_id: connectionId }),
    inflight_cnt: inflight ?? null,
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
    quotas,
  };
}

function addressOf(address: string | undefined): Readonly<Record<'ip', string | null>> & {
  readonly port: number | null;
} {
  if (address === undefined) return { ip: null, port: null };
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|([^:]*)):(\d+)$/.exec(address) ?? [];
  return { ip: bracketed ?? plain ?? address, port: port === undefined ? null : Number(port) };
}

type DropName = (typeof DROP_NAMES)[DropReason];

/** `delivery.dropped`, `delivery.dropped.queue_full` and so on, for a `prefix` of `delivery.dropped`. */
export function dropFigures<Prefix extends string>(
  prefix: Prefix,
  counts: DropCounts,
): Readonly<Record<Prefix | `${Prefix}.${DropName}`, number>> {
  const named = Object.entries(DROP_NAMES).map(
    ([why, name]) => [`${prefix}.${name}`, counts[why as DropReason] ?? 0] as const,
  );
  const sum = named.reduce((total, [, count]) => total + count, 0);
  return Object.fromEntries([[prefix, sum], ...named]) as Record<Prefix | `${Prefix}.${DropName}`, number>;
}

function droppedOf(counts: DropCounts | undefined) {
  const figures: Readonly<Record<'send_msg.dropped' | `send_msg.dropped.${DropName}`, number | null>> =
    dropFigures('send_msg.dropped', counts ?? {});
  if (counts !== undefined) return figures;
  return Object.fromEntries(Object.keys(figures).map((name) => [name, null])) as unknown as typeof figures;
}
