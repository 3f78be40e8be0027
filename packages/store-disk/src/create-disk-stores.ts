import type { Clock, StreamDeclarations } from '@apus/broker';
import { MemoryBudget } from '@apus/store-memory';
import { type ComposedStores, composeStores } from './compose-stores.ts';
import { Database } from './database.ts';
import { DirectoryLock } from './directory-lock.ts';
import { checkNoEngine } from './engine-directory.ts';
import { DataDirectoryError, DiskError } from './errors.ts';
import { GroupWriter } from './group-writer.ts';
import { WILL_GRACE_SECONDS } from './limits.ts';

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
export interface DiskStores extends ComposedStores {
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
    memory = new MemoryBudget(),
    willGraceSeconds = WILL_GRACE_SECONDS,
    streams,
    onFailure = () => {},
  }: DiskStoresOptions,
  database: Database,
  lock: DirectoryLock,
): Promise<DiskStores> {
  const writer = new GroupWriter((operations) => database.commit(operations), onFailure);
  const stores = composeStores({ content: database, writer, clock, memory, streams, willGraceSeconds });
  await writer.durable(undefined);
  const close = async (): Promise<void> => {
    if (writer.isWorking) stores.streamStore.close();
    await writer.close();
    await database.close();
    await lock.release();
  };
  let closed: Promise<void> | undefined;
  return {
    ...stores,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
