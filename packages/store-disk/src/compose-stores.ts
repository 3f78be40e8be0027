import { type Clock, type MessageId, type Stores, StreamDeclarations } from '@apus/broker';
import { createMemoryStores, type MemoryBudget } from '@apus/store-memory';
import { DiskBans } from './bans.ts';
import type { DueTimer } from './due-timers.ts';
import { DurableSessions } from './durable-sessions.ts';
import type { JournalContent } from './journal.ts';
import { DiskPresence } from './presence.ts';
import { DiskQueues } from './queues.ts';
import { DiskReceived } from './received.ts';
import { RepeatableFanOuts } from './repeatable-fan-outs.ts';
import { type FindLiving, restore } from './restore.ts';
import { DiskRetained } from './retained.ts';
import { RetainedSweep } from './retained-sweep.ts';
import { DiskSessions, type WrittenSessions } from './sessions.ts';
import { DiskStreams } from './streams.ts';
import { DiskSubscriptions } from './subscriptions.ts';
import type { Writer } from './writer.ts';

export interface StoresContext {
  readonly content: JournalContent;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly memory: MemoryBudget;
  /** Streams whose history is kept; that of others is removed. @default none */
  readonly streams?: StreamDeclarations | undefined;
  /** How long the will of a cut connection waits at least, so that clients can come back first. */
  readonly willGraceSeconds: number;
  /** @default 'outliving' */
  readonly written?: WrittenSessions | undefined;
  /** @default the restart has cut every connection */
  readonly living?: FindLiving | undefined;
}

/** All stores of a broker, as their journal has them. */
export interface ComposedStores extends Stores {
  readonly sessions: DiskSessions;
  readonly queues: DiskQueues;
  readonly subscriptions: DiskSubscriptions;
  readonly retained: DiskRetained;
  readonly banStore: DiskBans;
  readonly streamStore: DiskStreams;
  readonly presenceStore: DiskPresence;
  /** Timers of the wills and sessions that were found. To be set before the first client is let in. */
  readonly dueTimers: readonly DueTimer[];
  /** Some of the subscriptions that were found have conditions (`where`). */
  readonly hasConditions: boolean;
  /** The latest message id that was found, for `MessageClock.observe`: ids ascend even if the wall clock went back. */
  readonly lastMessageId: MessageId | undefined;
}

/** Reads everything into memory. What it finds to write has not been committed when it returns. */
export function composeStores({
  content,
  writer,
  clock,
  memory: budget,
  streams: declared = new StreamDeclarations([]),
  willGraceSeconds,
  written,
  living,
}: StoresContext): ComposedStores {
  const memory = createMemoryStores(budget, clock);
  const repeatable = new RepeatableFanOuts(writer);
  const durables = new DurableSessions(memory, writer, repeatable);
  const context = { content, memory, durables, repeatable, writer, clock, willGraceSeconds, living };
  const { dueTimers, lastMessageId, hasConditions } = budget.restoring(() => restore(context));
  const streamStore = budget.restoring(() =>
    DiskStreams.open({ content, writer, memory: memory.streamStore, clock, declared }),
  );
  const presenceStore = budget.restoring(() =>
    DiskPresence.open({ content, writer, memory, durables, clock, graceSeconds: willGraceSeconds }),
  );
  return {
    lastMessageId,
    hasConditions,
    sessions: new DiskSessions(memory.sessions, durables, repeatable, writer, written),
    subscriptions: new DiskSubscriptions(memory.subscriptions, durables, writer),
    retained: new DiskRetained(
      memory.retained,
      new RetainedSweep(content, memory.retained, writer, clock),
      writer,
    ),
    queues: new DiskQueues(memory.queues, durables, repeatable, writer),
    received: new DiskReceived(memory.received, durables, repeatable, writer),
    banStore: DiskBans.open(content, writer),
    streamStore,
    presenceStore,
    dueTimers: [...dueTimers, ...presenceStore.dueTimers],
  };
}
