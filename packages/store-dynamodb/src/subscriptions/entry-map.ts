import type { ConnectionId, SessionRef } from '@apus/broker';
import type { Key } from '../table/keys.ts';
import type { Table, Written } from '../table/table.ts';
import { number, numberOf, text, VERSION } from '../table/values.ts';
import { ANY_ENTRY, type EntryCondition, entryWith, writeOwnEntry } from './own-entry.ts';
import { carried, ENTRY, endedEntriesOf } from './subscriber-entry.ts';

/** The subscribers in the head of a filter: an attribute for each, and their number. */
export class EntryMap {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Adds an entry, unless `maximum` are there or the filter is wide: then it returns the present item. Entries of
   * ended connections, which a crash has left, are ignored, and removed when room is needed.
   */
  async add(key: Key, session: SessionRef, entry: string, maximum: number): Promise<Written> {
    const { incarnation } = session;
    const isNew = 'attribute_not_exists(#entry)';
    const isNarrow = 'attribute_not_exists(k)';
    const hasRoom = '(attribute_not_exists(n) OR n < :maximum)';
    const written = await this.#table.update(key, 'SET #entry = :entry, v = :v ADD n :one', {
      condition: `${isNew} AND ${isNarrow} AND ${hasRoom}`,
      names: { '#entry': ENTRY + incarnation },
      values: {
        ':entry': text(entry),
        ':v': number(VERSION),
        ':one': number(1),
        ':maximum': number(maximum),
      },
    });
    if (written.ok) return written;
    // The entry is there: a retry of a write that succeeded, or the list lost it in a crash.
    if (written.old?.[ENTRY + incarnation] !== undefined) return await this.replace(key, session, entry);
    const isFull = (numberOf(written.old, 'n') ?? 0) >= maximum;
    const ended = isFull ? endedEntriesOf(written.old, this.#table.nowSeconds()) : [];
    if (ended.length === 0) return written;
    for (const ghost of ended) await this.#remove(key, ghost, ANY_ENTRY);
    return await this.add(key, session, entry, maximum);
  }

  async replace(key: Key, session: SessionRef, entry: string): Promise<Written> {
    const { incarnation } = session;
    return await writeOwnEntry(this.#table, session, { name: ENTRY + incarnation, entry }, (expected) =>
      this.#replace(key, incarnation, entry, expected),
    );
  }

  /** Replaces the entry if it carries the connection `from`. */
  async moved(key: Key, { incarnation }: SessionRef, entry: string, from: ConnectionId): Promise<Written> {
    return await this.#replace(key, incarnation, entry, entryWith(carried(from)));
  }

  async remove(key: Key, session: SessionRef): Promise<Written> {
    const { incarnation } = session;
    return await writeOwnEntry(this.#table, session, { name: ENTRY + incarnation }, (expected) =>
      this.#remove(key, incarnation, expected),
    );
  }

  async #replace(
    key: Key,
    incarnation: string,
    entry: string,
    { condition, values }: EntryCondition,
  ): Promise<Written> {
    return await this.#table.update(key, 'SET #entry = :entry, v = :v', {
      condition,
      names: { '#entry': ENTRY + incarnation },
      values: { ...values, ':entry': text(entry), ':v': number(VERSION) },
    });
  }

  async #remove(key: Key, incarnation: string, { condition, values }: EntryCondition): Promise<Written> {
    return await this.#table.update(key, 'REMOVE #entry ADD n :less', {
      condition,
      names: { '#entry': ENTRY + incarnation },
      values: { ...values, ':less': number(-1) },
    });
  }
}
