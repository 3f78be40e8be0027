import type { Clock } from '@apus/broker';
import {
  createJournaledStores,
  type DiskError,
  type JournalContent,
  type JournaledStores,
  Numbers,
} from '@apus/store-disk';
import type { MemoryBudget } from '@apus/store-memory';
import type { Engine } from './engine.ts';
import { EngineJournal } from './journal.ts';
import { NUMBERS_PER_EPOCH } from './limits.ts';
import type { Membership, Reaped } from './membership.ts';
import { ValkeyRetained } from './retained.ts';

export interface ValkeyStoresOptions {
  readonly engine: Engine;
  readonly membership: Membership;
  readonly clock: Clock;
  /** The budget for the data in memory: all sessions of this process. */
  readonly memory: MemoryBudget;
  /** Called once, when a write has failed, or another process has given this one up. */
  readonly onFailure: (error: DiskError) => void;
}

/** The stores of one process of a cluster. */
export interface ValkeyStores extends Omit<JournaledStores, 'adopt'> {
  readonly retained: ValkeyRetained;
  /** Reads the data of a dead process. */
  read(reaped: Reaped): Promise<JournalContent>;
  /** Takes the data over, in one turn of the event loop. */
  adopt(
    reaped: Reaped,
    content: JournalContent,
    willGraceSeconds: number,
  ): ReturnType<JournaledStores['adopt']>;
}

/**
 * Joins the cluster, and opens the stores of this process: sessions in memory and in the engine, retained messages in
 * the engine.
 */
export async function createValkeyStores(options: ValkeyStoresOptions): Promise<ValkeyStores> {
  const { engine, membership, clock, memory, onFailure } = options;
  const numbers = new Numbers((await membership.join()) * NUMBERS_PER_EPOCH);
  const journal = new EngineJournal(engine, membership);
  const stores = createJournaledStores({ journal, clock, memory, numbers, onFailure, isShared: true });
  return {
    ...stores,
    retained: new ValkeyRetained(engine),
    read: ({ journals }) => journal.read(journals),
    adopt({ epoch }, content, willGraceSeconds) {
      // Later messages get higher numbers than those in the sessions.
      numbers.observe(epoch * NUMBERS_PER_EPOCH);
      return stores.adopt(content, willGraceSeconds);
    },
  };
}
