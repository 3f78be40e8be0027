import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stores } from '@apus/broker';
import { FanOutProgress } from './fan-out/progress.ts';
import { DynamoBans } from './identity/bans.ts';
import { DynamoUsers } from './identity/users.ts';
import { COUNT_SAMPLE, INLINE_SUBSCRIBERS_MAX, SHARD_SUBSCRIBERS } from './limits.ts';
import type { DynamoOptions, Settings } from './options.ts';
import { DynamoQueues } from './queue/record-queues.ts';
import { Records } from './queue/records.ts';
import { QuotaAccounts } from './quotas/quota-accounts.ts';
import { QuotaHoldings } from './quotas/quota-holdings.ts';
import { RetainedHoldings } from './quotas/retained-holdings.ts';
import { DynamoRetained } from './retained/retained.ts';
import { RetainedSize } from './retained/size.ts';
import { Leavings } from './sessions/leavings.ts';
import { DynamoLinks } from './sessions/links.ts';
import { DynamoReceived } from './sessions/received.ts';
import { SessionList } from './sessions/session-list.ts';
import { DynamoSessions } from './sessions/sessions.ts';
import { EntryMap } from './subscriptions/entry-map.ts';
import { Matcher } from './subscriptions/matcher.ts';
import { Placement } from './subscriptions/placement.ts';
import { ShapeRegistry } from './subscriptions/shape-registry.ts';
import { Shards } from './subscriptions/shards.ts';
import { ShareGroups } from './subscriptions/share-groups.ts';
import { DynamoSubscriptions, type FramePlan } from './subscriptions/subscriptions.ts';
import { DynamoSweepScan } from './sweep/scan.ts';
import { Bodies } from './table/bodies.ts';
import { FrameCache } from './table/frame-cache.ts';
import type { Meter } from './table/meter.ts';
import { SampledCount } from './table/sampled-count.ts';
import { Table } from './table/table.ts';

/** The broker's stores in DynamoDB, and what a cloud handler needs beside them. */
export interface DynamoStores extends Stores {
  readonly sessions: DynamoSessions;
  readonly subscriptions: DynamoSubscriptions;
  readonly retained: DynamoRetained;
  readonly queues: DynamoQueues;
  readonly received: DynamoReceived;
  readonly links: DynamoLinks;
  readonly fanOutProgress: FanOutProgress;
  /** What publishers have caused. */
  readonly quotaAccounts: QuotaAccounts;
  /** About what identities and tenants hold. */
  readonly quotaHoldings: QuotaHoldings;
  readonly bans: DynamoBans;
  /** Users with passwords, where an authenticator of the chain has them here. */
  readonly users: DynamoUsers;
  /** For the sweep. */
  readonly sweepScan: DynamoSweepScan;
  /** What was consumed since the stores were made. */
  readonly meter: Meter;
  /**
   * Begins a frame: until `endFrame` each topic is matched once. With a plan the connection and the heads of all its
   * topics are read in one call. For an environment that handles one frame at a time.
   */
  beginFrame(plan?: FramePlan): Promise<void>;
  /**
   * Whether acknowledgements of this frame have left the look for what may be sent next to whoever began it (see
   * `FramePlan.looksAtEnd`): `queues.next` has not been asked as it should. True once.
   */
  takeOwedLook(): boolean;
  /** The record of the frame's session says that its client fetches on. */
  isMoreWaiting(): boolean;
  /** Something waits for the session whose frame this is. */
  noteMore(): void;
  /** Writes what the frame has gathered: before its reply leaves. */
  commitFrame(): Promise<void>;
  endFrame(): void;
}

const QUEUE_SECONDS_MAX = 14 * 24 * 60 * 60;
const REPEAT_SECONDS_MAX = 7 * 24 * 60 * 60;
const RETAINED_TOMBSTONE_SECONDS = 600;

/**
 * Puts the stores over one table (`defineTable`). Keep them for the life of the process: they cache shapes for two
 * seconds and which filters are wide, and nothing that matters.
 *
 *     const client = new DynamoDBClient({ maxAttempts: 1 });
 *     const stores = createDynamoStores({ client, tableName: 'apus' });
 */
export function createDynamoStores(options: DynamoOptions): DynamoStores {
  const table = new Table(settingsOf(options));
  const frame = new FrameCache();
  const leavings = new Leavings(() => table.settings.clock.now());
  const shards = new Shards(table);
  const entries = new EntryMap(table);
  const bans = new DynamoBans(table);
  const subscriptions = new DynamoSubscriptions(table, {
    registry: new ShapeRegistry(table),
    list: new SessionList(table),
    placement: new Placement(table, entries, shards, new ShareGroups(table, entries)),
    matcher: new Matcher(table, shards),
    shards,
    frame,
    leavings,
    bans,
  });
  const quotaHoldings = new QuotaHoldings(table);
  const records = new Records(table);
  const queues = new DynamoQueues(table, records, new Bodies(table, 'queued'), leavings, frame);
  return {
    sessions: new DynamoSessions(table, new SampledCount(table, 'sessions', COUNT_SAMPLE), records),
    subscriptions,
    retained: new DynamoRetained(
      table,
      new Bodies(table, 'retained'),
      new RetainedSize(table),
      new RetainedHoldings(table, quotaHoldings),
      frame,
    ),
    queues,
    received: new DynamoReceived(table, leavings),
    links: new DynamoLinks(table, frame),
    fanOutProgress: new FanOutProgress(table),
    quotaAccounts: new QuotaAccounts(table),
    quotaHoldings,
    bans,
    users: new DynamoUsers(table),
    sweepScan: new DynamoSweepScan(table, records),
    meter: table.meter,
    beginFrame: async (plan) => {
      frame.begin(plan?.looksAtEnd, plan?.isReplyWanted);
      if (plan !== undefined) await subscriptions.readAhead(plan);
    },
    takeOwedLook: () => frame.takeOwedLook(),
    isMoreWaiting: () => frame.isMoreWaiting,
    noteMore: () => frame.noteMore(true),
    commitFrame: async () => {
      await queues.commit();
    },
    endFrame: () => {
      frame.end();
      queues.endFrame();
    },
  };
}

function settingsOf(options: DynamoOptions): Settings {
  return {
    clock: { now: () => Date.now() },
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
    inlineSubscribersMax: INLINE_SUBSCRIBERS_MAX,
    shardSubscribers: SHARD_SUBSCRIBERS,
    ...options,
  };
}
