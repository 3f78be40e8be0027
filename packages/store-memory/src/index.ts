import type { Clock, Stores } from '@apus/broker';
import { MemoryLinks } from './links.ts';
import { HeldMessage, IDENTITY_QUEUES_SHARE, MemoryBudget } from './memory-budget.ts';
import { type HeldMember, MemoryPresence, type PresenceJournal } from './presence.ts';
import { MemoryQueues } from './queues.ts';
import { MemoryReceived } from './received.ts';
import { RepeatableCopies } from './repeatable-copies.ts';
import { MemoryRetained } from './retained.ts';
import { MemorySessions } from './sessions.ts';
import { type KnownOrigin, type StreamIndex, StreamTopic } from './stream-topic.ts';
import { MemoryStreams, type StreamJournal } from './streams.ts';
import { MemorySubscriptions } from './subscriptions.ts';

export { bytesOf as streamEntryBytes } from './entry-bytes.ts';
export { LocalHoldingQuota } from './holding-quota.ts';
export type { HeldKind, Holding, Holdings } from './holdings.ts';
export { InflightWindow, messageOf, type WindowProgress } from './inflight-window.ts';
export type { QueuesScope, QueuesState, QueuesSum } from './memory-budget.ts';
export type { HeldWill } from './memory-session.ts';
export { ClientQueue, type Waiting } from './session-queue.ts';
export type { HoldingAsk, SharedHoldings } from './shared-holdings.ts';
export {
  type HeldMember,
  HeldMessage,
  IDENTITY_QUEUES_SHARE,
  type KnownOrigin,
  MemoryBudget,
  MemoryLinks,
  MemoryQueues,
  MemoryReceived,
  MemoryRetained,
  MemorySessions,
  MemoryStreams,
  MemorySubscriptions,
  type PresenceJournal,
  type StreamIndex,
  type StreamJournal,
  StreamTopic,
};

/** The stores with their types: no answer is a promise. */
export interface MemoryStores extends Stores {
  readonly sessions: MemorySessions;
  readonly subscriptions: MemorySubscriptions;
  readonly retained: MemoryRetained;
  readonly queues: MemoryQueues;
  readonly received: MemoryReceived;
  readonly streamStore: MemoryStreams;
  readonly presenceStore: MemoryPresence;
  /** The memory that all of them use. */
  readonly memory: MemoryBudget;
}

/**
 * The broker's stores in memory: no call waits, and nothing survives the process.
 *
 * @param clock by which sessions last as long as they should where the wall clock steps
 */
export function createMemoryStores(memory = new MemoryBudget(), clock?: Clock): MemoryStores {
  const sessions = new MemorySessions(memory, clock);
  const repeatable = new RepeatableCopies();
  return {
    sessions,
    subscriptions: new MemorySubscriptions(sessions, memory),
    retained: new MemoryRetained(memory),
    queues: new MemoryQueues(sessions, repeatable, memory),
    received: new MemoryReceived(sessions, repeatable, memory),
    streamStore: new MemoryStreams(memory),
    presenceStore: new MemoryPresence(memory),
    memory,
  };
}
