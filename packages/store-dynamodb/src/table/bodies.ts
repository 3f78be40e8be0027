import { PIECE_BYTES } from '../limits.ts';
import { batchGet, type Found } from './batch.ts';
import { bodyPartition, type Key } from './keys.ts';
import type { Table } from './table.ts';
import { bytes, bytesOf, type Item, number, text, VERSION } from './values.ts';

export type BodyKind = 'queued' | 'retained';

/** Names a stored body: its message and how many pieces it has. */
export interface BodyRef {
  readonly messageId: string;
  readonly pieces: number;
}

/**
 * Encoded messages that are too long for the items that refer to them, in pieces of at most 256 KB: a message of the
 * node door may have 2 MiB, and an item 400 KB. Each piece is written without a condition: every writer writes the
 * same bytes.
 */
export class Bodies {
  readonly #table: Table;
  readonly #kind: BodyKind;

  constructor(table: Table, kind: BodyKind) {
    this.#table = table;
    this.#kind = kind;
  }

  async store(tenant: string, messageId: string, blob: Uint8Array, ttlSeconds?: number): Promise<BodyRef> {
    const pieces = Math.ceil(blob.length / PIECE_BYTES);
    // Not in one batch: a batch takes 16 MB, but these are metered and retried one by one.
    for (const [index, key] of this.#keys(tenant, { messageId, pieces }).entries()) {
      const piece = blob.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES);
      const item: Item = { p: text(key.p), s: text(key.s), v: number(VERSION), b: bytes(piece) };
      await this.#table.put(ttlSeconds === undefined ? item : { ...item, t: number(ttlSeconds) });
    }
    return { messageId, pieces };
  }

  /** The pieces of many bodies, in as few calls as they allow. */
  async load(tenant: string, refs: readonly BodyRef[]): Promise<Found> {
    return await batchGet(
      this.#table,
      refs.flatMap((ref) => this.#keys(tenant, ref)),
    );
  }

  /** Undefined: a piece is missing. */
  join(tenant: string, ref: BodyRef, found: Found): Uint8Array | undefined {
    const pieces: Uint8Array[] = [];
    for (const key of this.#keys(tenant, ref)) {
      const piece = bytesOf(found.get(key), 'b');
      if (piece === undefined) return undefined;
      pieces.push(piece);
    }
    return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
  }

  async delete(tenant: string, ref: BodyRef): Promise<void> {
    for (const key of this.#keys(tenant, ref)) await this.#table.delete(key);
  }

  #keys(tenant: string, { messageId, pieces }: BodyRef): Key[] {
    const p = bodyPartition(tenant, this.#kind, messageId);
    return Array.from({ length: pieces }, (_, index) => ({ p, s: String(index).padStart(3, '0') }));
  }
}
