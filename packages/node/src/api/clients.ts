import {
  type ClientFacts,
  type ClientFilter,
  type DetailedClient,
  fitsClient,
  type KnownClient,
} from '@apus/api';
import { KICK, type SessionRecord } from '@apus/broker';
import { CONNECTION_ID_PREFIX } from '../connections.ts';
import type { ApiContext } from './context.ts';
import { sliceOf } from './paging.ts';

/** Connected clients, and sessions that wait for theirs. */
export function clientFacts(context: ApiContext): ClientFacts {
  const { nodeName, stores, broker } = context;
  return {
    nodeName,
    async clients(tenant, filter, slice) {
      const { entries, count } = sliceOf(fitting(recordsOf(context, tenant), filter), slice);
      return { entries: await Promise.all(entries.map((record) => clientOf(context, record))), count };
    },
    async client(tenant, clientId) {
      const record = await stores.sessions.get(tenant, clientId);
      return record && (await detailsOf(context, record));
    },
    endClient: (tenant, clientId) => broker.expel(tenant, clientId, KICK),
  };
}

/** The sessions of one tenant: the same client identifier may be another client in each [SEC-TENANT-4]. */
export function* recordsOf({ stores }: ApiContext, tenant: string): Generator<SessionRecord> {
  for (const record of stores.sessions.all()) if (record.session.tenant === tenant) yield record;
}

function* fitting(records: Iterable<SessionRecord>, filter: ClientFilter): Generator<SessionRecord> {
  for (const record of records) {
    const { session, attachment, identity } = record;
    if (filter.clientId !== undefined && session.clientId !== filter.clientId) continue;
    if (fitsClient(filter, session.clientId, identity.name, attachment !== undefined)) yield record;
  }
}

async function clientOf(context: ApiContext, record: SessionRecord): Promise<KnownClient> {
  const { stores, links, drops, clock } = context;
  const { session, attachment, identity, attachedAtMs } = record;
  const link = attachment && links.get(attachment.connectionId);
  const connection = link?.state.phase === 'connected' ? link.state.connection : undefined;
  return {
    ...{ clientId: session.clientId, identity, attachedAtMs, record },
    door: attachment === undefined ? null : doorOf(attachment.connectionId),
    connectedMs: attachment && Math.max(0, clock.now() - attachedAtMs),
    address: link?.peer.address,
    keepAliveSeconds: connection?.keepAliveSeconds,
    subscriptions: (await stores.subscriptions.list(session)).length,
    waiting: await stores.queues.length(session),
    dropped: drops.of(session),
  };
}

/** Only the node door's connections count their traffic. */
async function detailsOf(context: ApiContext, record: SessionRecord): Promise<DetailedClient> {
  const { stores, links, quotas } = context;
  const { session, attachment, identity } = record;
  return {
    ...(await clientOf(context, record)),
    record,
    connectionId: attachment?.connectionId ?? null,
    inflight: stores.queues.inflight(session),
    traffic: attachment && links.get(attachment.connectionId)?.traffic,
    quotas: { ...quotas.identity, ...identity.quotas },
  };
}

export function doorOf(connectionId: string): 'node' | 'gateway' {
  return connectionId.startsWith(CONNECTION_ID_PREFIX) ? 'node' : 'gateway';
}
