import type {
  Clock,
  MessageId,
  RetainedStore,
  SessionRecord,
  SessionRef,
  SessionStore,
  Stores,
  Subscription,
  SubscriptionStore,
  Timer,
} from '@apus/broker';
import { createMemoryStores } from '@apus/store-memory';
import { StartError } from './start-error.ts';

/** Stores of this process: all that they hold can be looked through, for whoever runs the broker. */
export interface LocalStores extends Stores {
  readonly sessions: SessionStore & { all(): Iterable<SessionRecord> };
  readonly subscriptions: Omit<SubscriptionStore, 'list'> & {
    list(session: SessionRef): readonly Subscription[];
  };
  readonly retained: RetainedStore & { count(tenant: string): number };
}

/** The broker's stores, with what a restart left to do. */
export interface OpenedStores {
  readonly stores: LocalStores;
  readonly dueTimers: readonly { readonly timer: Timer; readonly dueAtMs: number }[];
  /** The message clock goes on from here. */
  readonly lastMessageId: MessageId | undefined;
  /** Settles once the disk has failed: nothing is promised any more. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

/**
 * In memory, or in a data directory.
 *
 * @throws {StartError} when the directory cannot be used.
 */
export async function openStores(directory: string | undefined, clock: Clock): Promise<OpenedStores> {
  if (directory === undefined) return inMemory();
  // The native library is loaded only where it is used.
  const { createDiskStores, DataDirectoryError } = await import('@apus/store-disk');
  let onFailure: (error: Error) => void = () => {};
  const failed = new Promise<Error>((resolve) => {
    onFailure = resolve;
  });
  try {
    const stores = await createDiskStores({ directory, clock, onFailure });
    const { dueTimers, lastMessageId } = stores;
    return { stores, dueTimers, lastMessageId, failed, close: () => stores.close() };
  } catch (error) {
    if (error instanceof DataDirectoryError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

function inMemory(): OpenedStores {
  return {
    stores: createMemoryStores(),
    dueTimers: [],
    lastMessageId: undefined,
    failed: new Promise(() => {}),
    close: async () => {},
  };
}
