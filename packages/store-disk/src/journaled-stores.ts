import type { Clock } from '@apus/broker';
import { createMemoryStores, type MemoryBudget, type MemoryStores } from '@apus/store-memory';
import { DurableSessions } from './durable-sessions.ts';
import type { DiskError } from './errors.ts';
import { GroupWriter } from './group-writer.ts';
import type { Journal, JournalContent } from './journal.ts';
import type { Numbers } from './numbers.ts';
import { DiskQueues } from './queues.ts';
import { DiskReceived } from './received.ts';
import { RepeatableFanOuts } from './repeatable-fan-outs.ts';
import { type Restored, restore } from './restore.ts';
import { DiskSessions } from './sessions.ts';
import { DiskSubscriptions } from './subscriptions.ts';

export interface JournaledStoresOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly memory: MemoryBudget;
  readonly numbers: Numbers;
  /** Called once, when a write has failed. From then on nothing is promised. */
  readonly onFailure: (error: DiskError) => void;
  /** Other processes deliver what is published at this one. @default false */
  readonly isShared?: boolean | undefined;
}

/**
 * Sessions, their subscriptions and queues. They answer from memory, and write to the journal before they promise
 * anything.
 */
export interface JournaledStores {
  readonly memory: MemoryStores;
  readonly sessions: DiskSessions;
  readonly subscriptions: DiskSubscriptions;
  readonly queues: DiskQueues;
  readonly received: DiskReceived;
  /**
   * Takes over the sessions of another process; from now on this journal has them. Their wills wait at least so long,
   * so that clients can come back first.
   */
  adopt(content: JournalContent, willGraceSeconds: number): Restored;
  /** Resolves when everything written so far is durable. */
  written(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the stores over a journal that is no file of this machine. It has the wills of all sessions. */
export function createJournaledStores(options: JournaledStoresOptions): JournaledStores {
  const { journal, clock, memory: budget, numbers, onFailure, isShared } = options;
  const memory = createMemoryStores(budget, clock);
  const writer = new GroupWriter((operations) => journal.commit(operations), onFailure, isShared);
  const repeatable = new RepeatableFanOuts(writer);
  const durables = new DurableSessions(memory, writer, repeatable, numbers);
  const adopt = (content: JournalContent, willGraceSeconds: number) =>
    budget.restoring(() =>
      restore({ content, memory, durables, repeatable, writer, clock, willGraceSeconds }),
    );
  return {
    memory,
    sessions: new DiskSessions(memory.sessions, durables, repeatable, writer, 'and-wills'),
    subscriptions: new DiskSubscriptions(memory.subscriptions, durables, writer),
    queues: new DiskQueues(memory.queues, durables, repeatable, writer),
    received: new DiskReceived(memory.received, durables, repeatable, writer),
    adopt,
    async written() {
      await writer.durable(undefined);
    },
    close: () => writer.close(),
  };
}
