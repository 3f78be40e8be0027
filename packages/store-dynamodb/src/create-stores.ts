import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Stores, steadyNow, systemClock } from '@apus/broker';
import { FanOutProgress } from './fan-out/progress.ts';
import { DynamoBans } from './identity/bans.ts';
import { DynamoTenants } from './identity/tenants.ts';
import { DynamoUsers } from './identity/users.ts';
import {
  COUNT_SAMPLE,
  INLINE_SUBSCRIBERS_MAX,
  QUEUE_SECONDS_MAX,
  REPEAT_SECONDS_MAX,
  RETAINED_TOMBSTONE_SECONDS,
  SHARD_SUBSCRIBERS,
} from './limits.ts';
import type { DynamoOptions, Settings } from './options.ts';
import { DynamoPresence } from './presence/presence.ts';
import { COMPLETED_LIMITS } from './queue/completed.ts';
import { DynamoQueues } from './queue/record-queues.ts';
import { Records } from './queue/records.ts';
import { QuotaAccounts } from './quotas/quota-accounts.ts';
import { QuotaHoldings } from './quotas/quota-holdings.ts';
import { RetainedHoldings } from './quotas/retained-holdings.ts';
import { DynamoRetained } from './retained/retained.ts';
import { RetainedSize } from './retained/size.ts';
import { DynamoLinks } from './sessions/links.ts';
import { OwnedItems } from './sessions/owned-items.ts';
import { DynamoReceived } from './sessions/received.ts';
import { SessionList } from './sessions/session-list.ts';
import { DynamoSessions } from './sessions/sessions.ts';
import { DynamoStreams } from './streams/streams.ts';
import { DynamoConflatedGroups } from './subscriptions/conflated-groups.ts';
import { EntryMap } from './subscriptions/entry-map.ts';
import { Matcher } from './subscriptions/matcher.ts';
import { Placement } from './subscriptions/placement.ts';
import { ShapeRegistry } from './subscriptions/shape-registry.ts';
import { Shards } from './subscriptions/shards.ts';
import { ShareGroups } from './subscriptions/share-groups.ts';
import { DynamoSubscriptions, type FramePlan } from './subscriptions/subscriptions.ts';
import { DynamoSweepScan } from './sweep/scan.ts';
import { Bodies } from './table/bodies.ts';
import { EventCache, type EventKind } from './table/event-cache.ts';
import type { Meter } from './table/meter.ts';
import { SampledCount } from './table/sampled-count.ts';
import { Table } from './table/table.ts';
import { DynamoUsage } from './usage/usage.ts';

/** The stores that a broker uses, and the connections' states. */
interface BrokerStores extends Stores {
  readonly sessions: DynamoSessions;
  readonly subscriptions: DynamoSubscriptions;
  readonly retained: DynamoRetained;
  readonly queues: DynamoQueues;
  readonly received: DynamoReceived;
  readonly links: DynamoLinks;
}

/** The broker's stores for one event: each topic is matched once, and acknowledgements are written together. */
export interface EventStores extends BrokerStores {
  /** If streams are declared: messages for one topic are appended without reading its end each time. */
  readonly streamStore: DynamoStreams;
  /** Reads the connection, and the heads of all topics, in one call. */
  readAhead(plan: FramePlan): Promise<void>;
  /** Acknowledgements have made room, and `queues.next` has not been called since. True once. */
  takeDrainDue(): boolean;
  /** The record of the frame's session says that messages wait. */
  readonly isMoreWaiting: boolean;
  /** Writes the gathered acknowledgements. To be called before anything is answered. */
  commit(): Promise<void>;
}

/**
 * The broker's stores in DynamoDB, and the other stores of a cloud handler, without an event: no call gathers
 * anything.
 */
export interface DynamoStores extends BrokerStores {
  readonly fanOutProgress: FanOutProgress;
  /** The accounts of publishers' quotas. */
  readonly quotaAccounts: QuotaAccounts;
  /** About how much identities and tenants hold. */
  readonly quotaHoldings: QuotaHoldings;
  /** The history of streams, where some are declared. */
  readonly streams: DynamoStreams;
  /** Members of rooms, where there are any: in the table of streams. */
  readonly presence: DynamoPresence;
  /** Groups of subscribers that are sent the newest messages once in an interval. */
  readonly conflatedGroups: DynamoConflatedGroups;
  readonly bans: DynamoBans;
  /** Users with passwords, if an authenticator of the chain has them here. */
  readonly users: DynamoUsers;
  /** The register of tenants. */
  readonly tenants: DynamoTenants;
  /** The usage of tenants, where it is counted. */
  readonly usage: DynamoUsage;
  /** The filter shapes of tenants: the sweep gives back those that are not used. */
  readonly shapes: Pick<ShapeRegistry, 'release'>;
  readonly sweepScan: DynamoSweepScan;
  /** The units consumed since the stores were made. */
  readonly meter: Meter;
  forEvent(kind?: EventKind): EventStores;
}

/**
 * Makes the stores over two tables (`defineTable`), or one. Keep them for the life of the process: they cache filter
 * shapes for two seconds, and which filters are wide. Losing a cache does no harm.
 *
 *     const client = new DynamoDBClient({ maxAttempts: 1 });
 *     const stores = createDynamoStores({ client, tableName: 'apus', sessionsTableName: 'apus-sessions' });
 */
export function createDynamoStores(options: DynamoOptions): DynamoStores {
  const table = new Table(settingsOf(options));
  const parts = partsOf(table);
  return {
    ...storesOver(table, parts, new EventCache()),
    fanOutProgress: new FanOutProgress(table),
    quotaAccounts: new QuotaAccounts(table),
    quotaHoldings: parts.quotaHoldings,
    streams: new DynamoStreams(table),
    presence: new DynamoPresence(table),
    conflatedGroups: parts.conflated,
    bans: parts.bans,
    users: new DynamoUsers(table),
    tenants: new DynamoTenants(table),
    usage: new DynamoUsage(table),
    shapes: parts.registry,
    sweepScan: new DynamoSweepScan(table, parts.records),
    meter: table.meter,
    forEvent: (kind = {}) => eventStores(table, parts, new EventCache(kind)),
  };
}

/** The parts that outlive an event. */
type Parts = ReturnType<typeof partsOf>;

function partsOf(table: Table) {
  const shards = new Shards(table);
  const entries = new EntryMap(table);
  const conflated = new DynamoConflatedGroups(table, shards);
  const quotaHoldings = new QuotaHoldings(table);
  const retainedHoldings = new RetainedHoldings(table, quotaHoldings);
  return {
    shards,
    registry: new ShapeRegistry(table, retainedHoldings),
    list: new SessionList(table),
    placement: new Placement(table, entries, shards, new ShareGroups(table, entries), conflated),
    conflated,
    matcher: new Matcher(table, shards),
    bans: new DynamoBans(table),
    records: new Records(table),
    quotaHoldings,
    sessionCount: new SampledCount(table, 'sessions', COUNT_SAMPLE),
    retainedSize: new RetainedSize(table),
    retainedHoldings,
  };
}

function storesOver(table: Table, parts: Parts, event: EventCache): BrokerStores {
  const { records, sessionCount, retainedSize, retainedHoldings } = parts;
  const ownedItems = new OwnedItems(() => steadyNow(table.settings.clock));
  const queues = new DynamoQueues(table, records, new Bodies(table, 'queued'), ownedItems, event);
  return {
    sessions: new DynamoSessions(table, sessionCount, records, queues),
    subscriptions: new DynamoSubscriptions(table, { ...parts, event, ownedItems }),
    retained: new DynamoRetained(table, new Bodies(table, 'retained'), retainedSize, retainedHoldings, event),
    queues,
    received: new DynamoReceived(table, ownedItems),
    links: new DynamoLinks(table, event),
  };
}

function eventStores(table: Table, parts: Parts, event: EventCache): EventStores {
  const stores = storesOver(table, parts, event);
  return {
    ...stores,
    readAhead: (plan) => stores.subscriptions.readAhead(plan),
    streamStore: new DynamoStreams(table, new Map()),
    takeDrainDue: () => event.takeDrainDue(),
    get isMoreWaiting() {
      return event.isMoreWaiting;
    },
    commit: () => stores.queues.commit(),
  };
}

/** The options, with their defaults. */
export function settingsOf(options: DynamoOptions): Settings {
  return {
    clock: systemClock,
    sleep: async (ms) => {
      await sleep(ms);
    },
    random: Math.random,
    randomId: () => randomBytes(12).toString('base64url'),
    postsWithinMs: 0,
    queueSecondsMax: QUEUE_SECONDS_MAX,
    repeatSecondsMax: REPEAT_SECONDS_MAX,
    retainedTombstoneSeconds: RETAINED_TOMBSTONE_SECONDS,
    readUnitsFrom: 'service',
    shards: 'read',
    sessionsTableName: options.tableName,
    streamsTableName: options.tableName,
    inlineSubscribersMax: INLINE_SUBSCRIBERS_MAX,
    completed: COMPLETED_LIMITS,
    shardSubscribers: SHARD_SUBSCRIBERS,
    ...options,
  };
}
