import { type Clock, type MessageId, type Stores, StreamDeclarations } from '@apus/broker';
import { createMemoryStores, MemoryBudget } from '@apus/store-memory';
import { DiskBans } from './bans.ts';
import { Database } from './database.ts';
import { DirectoryLock } from './directory-lock.ts';
import type { DueTimer } from './due-timers.ts';
import { DurableSessions } from './durable-sessions.ts';
import { checkNoEngine } from './engine-directory.ts';
import { DataDirectoryError, DiskError } from './errors.ts';
import { WILL_GRACE_SECONDS } from './limits.ts';
import { DiskPresence } from './presence.ts';
import { DiskQueues } from './queues.ts';
import { DiskReceived } from './received.ts';
import { RepeatableFanOuts } from './repeatable-fan-outs.ts';
import { restore } from './restore.ts';
import { DiskRetained } from './retained.ts';
import { RetainedSweep } from './retained-sweep.ts';
import { DiskSessions } from './sessions.ts';
import { DiskStreams } from './streams.ts';
import { DiskSubscriptions } from './subscriptions.ts';
import { Writer } from './writer.ts';

export interface DiskStoresOptions {
  /** The directory of the files; made if it does not exist. One process at a time. */
  readonly directory: string;
  readonly clock: Clock;
  /** The budget for the data in memory, which is everything on the disk. @default no limit */
  readonly memory?: MemoryBudget | undefined;
  /** Streams whose history is kept; that of others is removed. @default none */
  readonly streams?: StreamDeclarations | undefined;
  /** How long no will is published after the start, so that clients can come back first. @default 30 */
  readonly willGraceSeconds?: number | undefined;
  /** Called once, when a write has failed. Every promise fails from then on: log it, and stop. @default nothing */
  readonly onFailure?: ((error: DiskError) => void) | undefined;
}

/** The broker's stores: they answer from memory, and write to the disk before they promise anything. */
export interface DiskStores extends Stores {
  readonly sessions: DiskSessions;
  readonly queues: DiskQueues;
  readonly subscriptions: DiskSubscriptions;
  readonly retained: DiskRetained;
  readonly banStore: DiskBans;
  readonly streamStore: DiskStreams;
  readonly presenceStore: DiskPresence;
  /** Timers of the wills and sessions that were found. To be set before the first client is let in. */
  readonly dueTimers: readonly DueTimer[];
  /** The latest message id that was found, for `MessageClock.observe`: ids ascend even if the wall clock went back. */
  readonly lastMessageId: MessageId | undefined;
  /**
   * Writes everything that is not written, and releases the directory. To be called when the broker has stopped. A
   * second call waits for the first.
   */
  close(): Promise<void>;
}

/**
 * Opens a data directory and reads its content into memory.
 *
 * @throws {DataDirectoryError} if it is in use, cannot be written, is damaged, or is of another version. The
 *   directory is then free again.
 * @example
 * const stores = await createDiskStores({ directory: '/var/lib/apus', clock });
 * const broker = createBroker({ ...stores, timers, clock, … }, options);
 * if (stores.lastMessageId !== undefined) broker.messageClock.observe(stores.lastMessageId);
 * for (const { timer, dueAtMs } of stores.dueTimers) await timers.set(timer, dueAtMs);
 */
export async function createDiskStores(options: DiskStoresOptions): Promise<DiskStores> {
  const lock = await DirectoryLock.acquire(options.directory);
  try {
    return await openLocked(options, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openLocked(options: DiskStoresOptions, lock: DirectoryLock): Promise<DiskStores> {
  checkNoEngine(options.directory);
  const database = await Database.open(options.directory);
  try {
    return await compose(options, database, lock);
  } catch (error) {
    await database.close();
    // No client has been promised anything yet: the start has failed.
    throw error instanceof DiskError ? new DataDirectoryError(error.message, { cause: error }) : error;
  }
}

async function compose(
  {
    clock,
    memory: budget = new MemoryBudget(),
    willGraceSeconds = WILL_GRACE_SECONDS,
    streams: declared = new StreamDeclarations([]),
    onFailure = () => {},
  }: DiskStoresOptions,
  database: Database,
  lock: DirectoryLock,
): Promise<DiskStores> {
  const memory = createMemoryStores(budget);
  const writer = new Writer((operations) => database.commit(operations), onFailure);
  const repeatable = new RepeatableFanOuts(writer);
  const durables = new DurableSessions(memory, writer, repeatable);
  const context = { content: database, memory, durables, repeatable, writer, clock, willGraceSeconds };
  const { dueTimers, lastMessageId } = budget.restoring(() => restore(context));
  const streamStore = budget.restoring(() =>
    DiskStreams.open({ database, writer, memory: memory.streamStore, clock, declared }),
  );
  const presenceStore = budget.restoring(() =>
    DiskPresence.open({ database, writer, memory, clock, graceSeconds: willGraceSeconds }),
  );
  await writer.durable(undefined);
  const sweep = new RetainedSweep(database, memory.retained, writer, clock);
  const close = async (): Promise<void> => {
    if (writer.isWorking) streamStore.close();
    await writer.close();
    await database.close();
    await lock.release();
  };
  let closed: Promise<void> | undefined;
  return {
    lastMessageId,
    sessions: new DiskSessions(memory.sessions, durables, repeatable, writer),
    subscriptions: new DiskSubscriptions(memory.subscriptions, durables, writer),
    retained: new DiskRetained(memory.retained, sweep, writer),
    queues: new DiskQueues(memory.queues, durables, repeatable, writer),
    banStore: DiskBans.open(database, writer),
    streamStore,
    presenceStore,
    dueTimers: [...dueTimers, ...presenceStore.dueTimers],
    received: new DiskReceived(memory.received, durables, repeatable, writer),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
