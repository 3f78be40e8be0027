import type { ConnectionId } from '@apus/broker';
import type { Key } from '../table/keys.ts';
import type { Table, Written } from '../table/table.ts';
import { number, numberOf, text, VERSION } from '../table/values.ts';
import { carried, ENTRY, endedEntriesOf } from './subscriber-entry.ts';

const CARRIES_FROM = 'contains(#entry, :from)';

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
  async add(key: Key, incarnation: string, entry: string, maximum: number): Promise<Written> {
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
    if (written.old?.[ENTRY + incarnation] !== undefined) return await this.replace(key, incarnation, entry);
    const isFull = (numberOf(written.old, 'n') ?? 0) >= maximum;
    const ended = isFull ? endedEntriesOf(written.old, this.#table.nowSeconds()) : [];
    if (ended.length === 0) return written;
    for (const ghost of ended) await this.remove(key, ghost);
    return await this.add(key, incarnation, entry, maximum);
  }

  /** @param from the connection that the entry has to carry. @default any, or none */
  async replace(key: Key, incarnation: string, entry: string, from?: ConnectionId): Promise<Written> {
    const isThere = 'attribute_exists(#entry)';
    return await this.#table.update(key, 'SET #entry = :entry, v = :v', {
      condition: from === undefined ? isThere : CARRIES_FROM,
      names: { '#entry': ENTRY + incarnation },
      values: {
        ':entry': text(entry),
        ':v': number(VERSION),
        ...(from !== undefined && { ':from': carried(from) }),
      },
    });
  }

  async remove(key: Key, incarnation: string): Promise<Written> {
    const isThere = 'attribute_exists(#entry)';
    return await this.#table.update(key, 'REMOVE #entry ADD n :less', {
      condition: isThere,
      names: { '#entry': ENTRY + incarnation },
      values: { ':less': number(-1) },
    });
  }
}
