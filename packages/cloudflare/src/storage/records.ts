import { Buffer } from 'node:buffer';
import { type JournalContent, type Operations, passingSessionOf } from '@apus/store-disk';
import { ROW_BYTES_MAX, SCANNED_ROWS, SCANNED_SMALL_ROWS } from '../limits.ts';
import type { ObjectStorage } from '../platform.ts';
import { HubKind } from './layout.ts';

export type PassingRecord = readonly [key: string, value: Uint8Array];

/** The first letters of the keys of sessions and subscriptions: at most 64 KB, and not a message of any size. */
const SMALL_KINDS = 'sf';

/** The first letter of the keys of records that a hub may never have read: it does not know which take several rows. */
const UNREAD = 'e';

type Row = readonly [key: string, value: ArrayBuffer];

/** Between the key and the number of a further row of a large value. No key contains it: they sort behind its first row. */
const REST = '~';

/**
 * The records of a hub: rows of SQLite, but those of sessions that end with their connection stay in memory, from where
 * the attachment of the connection's socket gets them.
 */
export class Records implements JournalContent {
  readonly #storage: ObjectStorage;
  readonly #passing = new Map<number, Map<string, Uint8Array>>();
  /** Keys whose values take several rows. */
  readonly #long = new Set<string>();
  /** Called with the number of a session whose records in memory have changed. */
  onPassing: (session: number) => void = () => {};

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
    storage.sql.exec('CREATE TABLE IF NOT EXISTS kv (k TEXT PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID');
  }

  /** Records that an attachment brings back. */
  adopt(records: readonly PassingRecord[]): void {
    for (const [key, value] of records) this.#put(key, value);
  }

  passing(session: number): readonly PassingRecord[] {
    return [...(this.#passing.get(session) ?? [])];
  }

  commit(operations: Operations): void {
    const rows: (readonly [string, Uint8Array | undefined])[] = [];
    for (const [key, value] of operations) {
      const session = passingSessionOf(key);
      if (session === undefined) rows.push([key, value]);
      else this.#change(session, key, value);
    }
    if (rows.length > 0) this.#storage.transactionSync(() => this.#write(rows));
  }

  scan(kind: string, from = kind): Generator<readonly [key: string, value: Uint8Array]> {
    return this.#rows(from, String.fromCharCode(kind.charCodeAt(0) + 1), kind);
  }

  /** Records that are texts. */
  *texts(kind: string, from = kind): Generator<readonly [key: string, text: string]> {
    for (const [key, value] of this.scan(kind, from)) yield [key, textIn(value)];
  }

  damage(where: string, error: unknown): Error {
    return new Error(`The storage of this object is damaged: ${where} cannot be read.`, { cause: error });
  }

  text(key: string): string | undefined {
    const value = this.get(key);
    return value && textIn(value);
  }

  /** One record. */
  get(key: string): Uint8Array | undefined {
    for (const [found, value] of this.#rows(key, `${key}${REST}${REST}`))
      return found === key ? value : undefined;
    return undefined;
  }

  /** The connections of all saved links that stand in rows. */
  *spilledIds(): Generator<string> {
    for (const [key] of this.scan(HubKind.SpilledLink)) yield key.slice(HubKind.SpilledLink.length);
  }

  /**
   * Reads a page at a time: a caller may leave off, or write meanwhile. A value in several rows is put together. This is
   * one generator, as each further one costs a wake-up with many sessions a tenth of its time.
   */
  *#rows(from: string, end: string, kind?: string): Generator<readonly [key: string, value: Uint8Array]> {
    const isSmall = SMALL_KINDS.includes(from.charAt(0));
    const rowsMax = isSmall ? SCANNED_SMALL_ROWS : SCANNED_ROWS;
    let [after, isAfter, rows] = [from, '>=', 0];
    let [long, pieces]: [string, Uint8Array[]] = ['', []];
    do {
      const query = `SELECT k, v FROM kv WHERE k ${isAfter} ? AND k < ? ORDER BY k LIMIT ?`;
      // An object for each row, and a `Buffer` of each value, would take longer.
      const page = this.#storage.sql.exec(query, after, end, rowsMax).raw().toArray() as Row[];
      rows = page.length;
      for (const row of page) {
        const key = row[0];
        const value = isSmall ? new Uint8Array(row[1]) : Buffer.from(row[1]);
        after = key;
        if (pieces.length > 0 && key.startsWith(`${long}${REST}`)) {
          this.#long.add(long);
          pieces.push(value);
          continue;
        }
        if (pieces.length > 0) yield [long, Buffer.concat(pieces)];
        pieces = [];
        // Only behind a full row there may be another one of its value.
        if (value.length < ROW_BYTES_MAX) yield [key, value];
        else [long, pieces] = [key, [value]];
      }
      isAfter = '>';
    } while (rows === rowsMax);
    if (pieces.length > 0) yield [long, Buffer.concat(pieces)];
    // Their numbers are above those of all rows.
    if (kind !== undefined) yield* this.#passingOf(kind, from);
  }

  #change(session: number, key: string, value: Uint8Array | undefined): void {
    if (value !== undefined) this.#put(key, value);
    else {
      const records = this.#passing.get(session);
      records?.delete(key);
      if (records?.size === 0) this.#passing.delete(session);
    }
    this.onPassing(session);
  }

  #put(key: string, value: Uint8Array): void {
    const session = passingSessionOf(key);
    if (session === undefined) return;
    const records = this.#passing.get(session) ?? new Map<string, Uint8Array>();
    this.#passing.set(session, records.set(key, value));
  }

  #write(rows: readonly (readonly [string, Uint8Array | undefined])[]): void {
    const { sql } = this.#storage;
    for (const [key, value] of rows) {
      if (this.#long.delete(key) || (value === undefined && key.startsWith(UNREAD)))
        sql.exec('DELETE FROM kv WHERE k > ? AND k < ?', `${key}${REST}`, `${key}${REST}${REST}`);
      if (value === undefined) sql.exec('DELETE FROM kv WHERE k = ?', key);
      else
        for (const row of this.#rowsOf(key, value))
          sql.exec('INSERT OR REPLACE INTO kv VALUES (?, ?)', ...row);
    }
  }

  /** The platform refuses a larger row, and with it everything that the event has written. */
  #rowsOf(key: string, value: Uint8Array): readonly PassingRecord[] {
    if (value.length <= ROW_BYTES_MAX) return [[key, value]];
    this.#long.add(key);
    const pieces = Math.ceil(value.length / ROW_BYTES_MAX);
    return Array.from({ length: pieces }, (_, index) => {
      const name = index === 0 ? key : `${key}${REST}${String(index).padStart(4, '0')}`;
      return [name, value.subarray(index * ROW_BYTES_MAX, (index + 1) * ROW_BYTES_MAX)];
    });
  }

  /** In the order of their keys. Other kinds than those of sessions have none. */
  #passingOf(kind: string, from: string): readonly PassingRecord[] {
    const found: PassingRecord[] = [];
    for (const records of this.#passing.values())
      for (const record of records) if (record[0].startsWith(kind) && record[0] >= from) found.push(record);
    found.sort(([one], [other]) => (one < other ? -1 : 1));
    return found;
  }
}

function textIn({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString();
}

/** Asked before the hub is read. */
export function hasConditions(storage: ObjectStorage): boolean {
  return new Records(storage).get(HubKind.Conditions) !== undefined;
}

export function spilledKey(connectionId: string): string {
  return HubKind.SpilledLink + connectionId;
}
