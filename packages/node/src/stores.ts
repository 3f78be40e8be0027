import {
  type Ban,
  BanList,
  type BanStore,
  type Clock,
  type MessageId,
  type SessionRef,
  type Stores,
  type StreamDeclarations,
  type StreamStore,
  type Timer,
} from '@apus/broker';
import type { ListedStores } from '@apus/door';
import { createMemoryStores, type Holdings, type MemoryBudget } from '@apus/store-memory';
import { StartError } from './start-error.ts';

/** Stores of this process: an operator can list everything in them. */
export interface LocalStores extends Stores, ListedStores {
  readonly sessions: ListedStores['sessions'] & { readonly holdings: Holdings };
  readonly queues: ListedStores['queues'] & { bytes(session: SessionRef): number };
  readonly subscriptions: ListedStores['subscriptions'] & { weight(session: SessionRef): number };
  readonly presenceStore: ListedStores['presenceStore'];
  readonly retained: ListedStores['retained'] & {
    bytes(tenant: string): number;
    tenants(): readonly string[];
  };
  /** `stableAfterMs`: handlers of a gateway door publish side by side. */
  readonly streamStore: StreamStore & { set stableAfterMs(ms: number | undefined) };
}

/** The broker's stores, and the work that a restart has left. */
export interface OpenedStores {
  readonly stores: LocalStores;
  /** The broker's list, with the bans of the store. */
  readonly bans: BanList;
  readonly banStore: BanStore;
  readonly dueTimers: readonly { readonly timer: Timer; readonly dueAtMs: number }[];
  /** Subscriptions of before the restart have conditions. @default none has */
  readonly hasConditions?: boolean;
  /** The last id before the restart: the message clock goes on from here. */
  readonly lastMessageId: MessageId | undefined;
  /** Resolves once the disk has failed: nothing is promised any more. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

/**
 * In memory, or in a data directory.
 *
 * @throws {StartError} when the directory cannot be used.
 */
export async function openStores(
  directory: string | undefined,
  clock: Clock,
  memory: MemoryBudget,
  streams: StreamDeclarations | undefined,
): Promise<OpenedStores> {
  if (directory === undefined) return inMemory(clock, memory);
  // Here, so that the native library is loaded only if it is used.
  const { createDiskStores, DataDirectoryError } = await import('@apus/store-disk');
  let onFailure: (error: Error) => void = () => {};
  const failed = new Promise<Error>((resolve) => {
    onFailure = resolve;
  });
  try {
    const stores = await createDiskStores({ directory, clock, memory, streams, onFailure });
    const { banStore, dueTimers, lastMessageId, hasConditions } = stores;
    const bans = new BanList(clock, banStore.all());
    const restored = { dueTimers, lastMessageId, hasConditions };
    return { stores, bans, banStore, ...restored, failed, close: () => stores.close() };
  } catch (error) {
    if (error instanceof DataDirectoryError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

/** Stores no bans: the broker's list has all of them. */
const NO_BAN_STORE: BanStore = { all: (): Ban[] => [], put: () => true, remove: () => {} };

function inMemory(clock: Clock, memory: MemoryBudget): OpenedStores {
  const stores = createMemoryStores(memory, clock);
  stores.streamStore.sinceMs = clock.now();
  return {
    stores,
    bans: new BanList(clock),
    banStore: NO_BAN_STORE,
    dueTimers: [],
    lastMessageId: undefined,
    failed: new Promise(() => {}),
    close: async () => {},
  };
}
