import type { Kind } from './keys.ts';
import type { Operations } from './writer.ts';

/** A sorted map of keys to bytes that outlives the process: a file of LMDB, or an engine elsewhere. */
export interface Journal {
  /**
   * Resolves when all operations are durable. If it rejects, none of them was made.
   *
   * @throws {DiskError} when another process has taken the journal over
   */
  commit(operations: Operations): Promise<void>;
  /** Everything of one kind in the order of the keys, from `from` on. */
  scan(kind: Kind, from?: string): Iterable<readonly [key: string, value: Uint8Array]>;
  /** The error for an unreadable record: `where` names it in half a sentence. */
  damage(where: string, error: unknown): Error;
}

/** The parts that a restart reads. */
export type JournalContent = Pick<Journal, 'scan' | 'damage'>;
