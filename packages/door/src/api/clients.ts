import {
  type ClientFacts,
  type ClientFilter,
  type DetailedClient,
  fitsClient,
  type KnownClient,
  type SlowClient,
} from '@apus/api';
import { KICK, messageTimeMs, type SessionRecord } from '@apus/broker';
import { sliceOf } from './paging.ts';
import type { ApiSources } from './sources.ts';

/** Connected clients, and sessions that wait for theirs. */
export function clientFacts(sources: ApiSources): ClientFacts {
  const { nodeName, stores, broker } = sources;
  return {
    nodeName,
    async clients(tenant, filter, slice) {
      const { entries, count } = sliceOf(fitting(recordsOf(sources, tenant), filter), slice);
      return { entries: await Promise.all(entries.map((record) => clientOf(sources, record))), count };
    },
    async client(tenant, clientId) {
      const record = await stores.sessions.get(tenant, clientId);
      return record && (await detailsOf(sources, record));
    },
    endClient: (tenant, clientId) => broker.expel(tenant, clientId, KICK),
  };
}

/** The sessions of one tenant: the same client identifier may be another client in each [SEC-TENANT-4]. */
export function* recordsOf({ stores }: ApiSources, tenant: string): Generator<SessionRecord> {
  for (const record of stores.sessions.all()) if (record.session.tenant === tenant) yield record;
}

function* fitting(records: Iterable<SessionRecord>, filter: ClientFilter): Generator<SessionRecord> {
  for (const record of records) {
    const { session, attachment, identity } = record;
    if (filter.clientId !== undefined && session.clientId !== filter.clientId) continue;
    if (fitsClient(filter, session.clientId, identity.name, attachment !== undefined)) yield record;
  }
}

async function clientOf(sources: ApiSources, record: SessionRecord): Promise<KnownClient> {
  const { stores, links, drops, clock, doorOf } = sources;
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
async function detailsOf(sources: ApiSources, record: SessionRecord): Promise<DetailedClient> {
  const { stores, links, quotas } = sources;
  const { session, attachment, identity } = record;
  return {
    ...(await clientOf(sources, record)),
    record,
    connectionId: attachment?.connectionId ?? null,
    inflight: stores.queues.inflight(session),
    traffic: attachment && links.get(attachment.connectionId)?.traffic,
    quotas: { ...quotas.identity, ...identity.quotas },
  };
}

/**
 * The clients whose oldest message waits longest. Nothing is kept for it while messages pass: it looks at the oldest message
 * of each queue.
 */
export function slowest(sources: ApiSources, tenant: string, limit: number): readonly SlowClient[] {
  const { queues } = sources.stores;
  const slow: SlowClient[] = [];
  for (const { session, attachment } of recordsOf(sources, tenant)) {
    const message = queues.oldest(session);
    if (message === undefined) continue;
    slow.push({
      clientid: session.clientId,
      topic: message.topic,
      publishedAtMs: messageTimeMs(message.id),
      connected: attachment !== undefined,
      mqueue_len: queues.length(session),
      inflight_cnt: queues.inflight(session),
    });
  }
  return slow.sort((one, other) => one.publishedAtMs - other.publishedAtMs).slice(0, limit);
}
