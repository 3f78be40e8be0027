import type { Stores } from '@apus/broker';
import { MemoryLinks } from './links.ts';
import { MemoryQueues } from './queues.ts';
import { MemoryReceived } from './received.ts';
import { MemoryRetained } from './retained.ts';
import { MemorySessions } from './sessions.ts';
import { MemorySubscriptions } from './subscriptions.ts';
import { UnsettledCopies } from './unsettled-copies.ts';

export { InflightWindow, messageOf } from './inflight-window.ts';
export type { HeldWill } from './memory-session.ts';
export { WaitingLine } from './waiting-line.ts';
export { MemoryLinks, MemoryQueues, MemoryReceived, MemoryRetained, MemorySessions, MemorySubscriptions };

/** The stores with the types of their answers, none of which is ever a promise. */
export interface MemoryStores extends Stores {
  readonly sessions: MemorySessions;
  readonly subscriptions: MemorySubscriptions;
  readonly retained: MemoryRetained;
  readonly queues: MemoryQueues;
  readonly received: MemoryReceived;
}

/** The broker's stores in memory: nothing waits, and nothing survives the process. */
export function createMemoryStores(): MemoryStores {
  const sessions = new MemorySessions();
  const unsettled = new UnsettledCopies();
  return {
    sessions,
    subscriptions: new MemorySubscriptions(sessions),
    retained: new MemoryRetained(),
    queues: new MemoryQueues(sessions, unsettled),
    received: new MemoryReceived(sessions, unsettled),
  };
}
