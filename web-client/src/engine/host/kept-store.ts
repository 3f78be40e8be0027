import type { Batch } from '../protocol.ts';

/** Messages of a connection that were stored together. */
export interface KeptRecord {
  /** The connection's. */
  readonly id: string;
  /** Ascends within a connection. */
  readonly number: number;
  /** Without packets and frames. */
  readonly batch: Batch;
}

/** Stores messages across a reload. */
export interface KeptStore {
  /** Whether this page may store the messages of the connection: of several tabs only one does. */
  claim(id: string): Promise<boolean>;
  /** The oldest first. */
  read(id: string): Promise<readonly KeptRecord[]>;
  /** In one transaction. A record with the same number is replaced. */
  write(record: KeptRecord, removed: readonly number[]): Promise<void>;
  forget(id: string): Promise<void>;
}
