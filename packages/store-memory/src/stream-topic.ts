import {
  type AppendOptions,
  type MessageOrigin,
  ORIGINS_MAX,
  pageOf,
  type StreamDeclaration,
  type StreamEntry,
  type StreamSince,
  type StreamTail,
} from '@apus/broker';
import { bytesOf, ENTRY_BYTES } from './entry-bytes.ts';
import { StreamValues } from './stream-values.ts';

/** Memory of a topic beside its entries. */
const TOPIC_BYTES = 1024;

/**
 * An entry that the journal has counts as this part of its bytes. Its place in the index takes less, and so the limit on
 * memory bounds the journal too.
 */
const JOURNALED_SHARE = 1 / 16;

/** History is kept for this much longer than it is handed out: a reader that began in time reaches the end. */
const SLACK_MS = 60_000;

/** Messages and bytes are kept up to this many times the stream's limits. */
const SLACK_FACTOR = 2;

/** How many messages may stand after one with a lower id. */
const CROSSED_MAX = 100;
const CROSSED = { messages: CROSSED_MAX, bytes: Number.POSITIVE_INFINITY };

/** Has the entries of histories, of which only an index is in memory then. */
export interface StreamPages {
  /**
   * The entries of a topic from a number on, which is in its history, lowest first.
   *
   * @throws if one of them cannot be read
   */
  entries(topic: StreamTopic, from: number): Iterable<StreamEntry>;
}

/** The times of consecutive entries, and the bytes of each. */
export interface StreamIndex {
  readonly timesMs: readonly number[];
  readonly bytes: readonly number[];
}

/** The initial state of a `StreamTopic`. */
export interface TopicState {
  readonly tenant: string;
  readonly topic: string;
  readonly epoch: string;
  readonly last: number;
  readonly completeSinceMs: number;
  /** The holder for which it was opened. */
  readonly holder?: string | undefined;
  readonly origins?: Iterable<KnownOrigin> | undefined;
  readonly first?: number | undefined;
  readonly highestId?: string | undefined;
}

/** The last message of a source: its number there, and in the log. */
export type KnownOrigin = readonly [source: string, number: number, place: number];

/** The log of one topic in memory. */
export class StreamTopic {
  readonly tenant: string;
  readonly topic: string;
  readonly stream: StreamDeclaration;
  readonly holder: string | undefined;
  epoch: string;
  completeSinceMs: number;
  /** When it was last used, in ms since the epoch. */
  usedAtMs: number;
  /** Its memory, as the budget counts it now. */
  countedBytes = 0;
  #last: number;
  /** Number of the oldest entry of the history, if there is one. The others follow without a hole. */
  #first: number;
  /** The index: the time of each entry, and the bytes of each with all before it. */
  readonly #timesMs: number[] = [];
  readonly #bytesUpTo: number[] = [];
  #bytesDropped = 0;
  readonly #pages: StreamPages | undefined;
  /** The entries, if there are no pages. */
  readonly #entries: StreamEntry[] = [];
  /** No message has a higher id. */
  #highestId: string;
  /** Last values, for a stream with a snapshot. */
  readonly #values: StreamValues | undefined;
  #released: number[] = [];
  /** Numbers of entries from before a restart that are no history. */
  #apart: number[] = [];
  #lastTsMs = 0;
  readonly #origins = new Map<string, KnownOrigin>();

  /** @param pages @default all entries are in memory */
  constructor(stream: StreamDeclaration, state: TopicState, nowMs: number, pages?: StreamPages) {
    this.stream = stream;
    this.#pages = pages;
    this.tenant = state.tenant;
    this.topic = state.topic;
    this.holder = state.holder;
    this.epoch = state.epoch;
    this.completeSinceMs = state.completeSinceMs;
    this.usedAtMs = nowMs;
    this.#last = state.last;
    this.#first = state.first ?? 1;
    this.#highestId = state.highestId ?? '';
    this.#values = stream.snapshot ? new StreamValues() : undefined;
    for (const known of state.origins ?? []) this.#origins.set(known[0], known);
  }

  /** At most `ORIGINS_MAX`. */
  get origins(): Iterable<KnownOrigin> {
    return this.#origins.values();
  }

  /** The message of the origin, if it was appended. 'repeated': it is not kept, or a later one of its source was. */
  repeated({ source, number }: MessageOrigin): StreamEntry | 'repeated' | undefined {
    const known = this.#origins.get(source);
    if (known === undefined || number > known[1]) return undefined;
    const [, last, place] = known;
    if (number < last || place < this.#numberAt(0)) return 'repeated';
    for (const entry of this.after(place - 1)) return entry;
    return 'repeated';
  }

  /** Number of the oldest entry of the history; one above the newest if there is none. */
  get first(): number {
    return this.#numberAt(0);
  }

  get last(): number {
    return this.#last;
  }

  get highestId(): string {
    return this.#highestId;
  }

  get length(): number {
    return this.#timesMs.length;
  }

  /** Bytes of its history. */
  get bytes(): number {
    return this.#bytesFrom(0);
  }

  /** Its memory. A value that is also in the history counts twice. */
  get memoryBytes(): number {
    const history = this.#pages === undefined ? this.bytes : Math.ceil(this.bytes * JOURNALED_SHARE);
    return TOPIC_BYTES + this.topic.length + history + (this.#values?.bytes ?? 0);
  }

  #bytesFrom(index: number): number {
    return this.#bytesBefore(this.length) - this.#bytesBefore(index);
  }

  #bytesBefore(index: number): number {
    return this.#bytesUpTo[index - 1] ?? this.#bytesDropped;
  }

  /** Nothing of it is handed out any more, and no reader has come for as long. */
  isOver(nowMs: number): boolean {
    if ((this.#values?.size ?? 0) > 0) return false;
    const keepMs = this.stream.keepSeconds * 1000 + SLACK_MS;
    return Math.max(this.usedAtMs, this.#lastTsMs) + keepMs < nowMs;
  }

  /** @param stableAfterMs older messages are stable. @default all are */
  append(
    message: StreamEntry['message'],
    { key, nowMs, origin }: Pick<AppendOptions, 'key' | 'nowMs' | 'origin'>,
    stableAfterMs?: number,
  ): StreamEntry {
    const tsMs = Math.max(nowMs, this.#lastTsMs);
    const stable = stableAfterMs === undefined ? undefined : this.#lastBefore(tsMs - stableAfterMs);
    const entry = { epoch: this.epoch, number: this.#last + 1, tsMs, key, stable, message, origin };
    this.#push(entry);
    return entry;
  }

  /** Adds the next entry from before a restart. Values may be older than the history, which has no holes. */
  restore(entry: StreamEntry): void {
    if (entry.number !== this.#first + this.length) this.#setApart();
    this.#push(entry);
  }

  /** The index of the history from a number on. */
  index(from: number): StreamIndex {
    const index = from - this.#first;
    const bytes = this.#bytesUpTo.slice(index).map((upTo, at) => upTo - this.#bytesBefore(index + at));
    return { timesMs: this.#timesMs.slice(index), bytes };
  }

  /** Adds the next entries from before a restart, of which the journal has the index. False: they are not the next. */
  restoreIndex(from: number, { timesMs, bytes }: StreamIndex): boolean {
    const next = this.#first + this.length;
    if (next < from || next >= from + timesMs.length) return false;
    for (let at = next - from; at < timesMs.length; at += 1)
      this.#place(from + at, timesMs[at] ?? 0, bytes[at] ?? 0);
    return true;
  }

  /** All entries were restored. Returns the numbers of those that are neither history nor values. */
  endRestore(): readonly number[] {
    if (this.#first + this.length - 1 !== this.#last) this.#setApart();
    this.#released = [];
    return this.#apart.splice(0).filter((number) => !this.isValue(number));
  }

  #setApart(): void {
    for (const number of this.#drop(this.length)) this.#apart.push(number);
  }

  #push(entry: StreamEntry): void {
    this.#place(entry.number, entry.tsMs, bytesOf(entry));
    if (this.#pages === undefined) this.#entries.push(entry);
    if (entry.message.id > this.#highestId) this.#highestId = entry.message.id;
    if (entry.origin !== undefined) this.#note(entry.origin, entry.number);
    if (this.#values !== undefined) this.#released.push(...this.#values.take(entry));
  }

  #place(number: number, tsMs: number, bytes: number): void {
    if (this.length === 0) this.#first = number;
    this.#bytesUpTo.push(this.#bytesBefore(this.length) + bytes);
    this.#timesMs.push(tsMs);
    this.#last = Math.max(this.#last, number);
    this.#lastTsMs = tsMs;
    this.usedAtMs = tsMs;
  }

  #note({ source, number }: MessageOrigin, place: number): void {
    if (number <= (this.#origins.get(source)?.[1] ?? -1)) return;
    this.#origins.set(source, [source, number, place]);
    if (this.#origins.size > ORIGINS_MAX)
      for (const first of this.#origins.keys()) return void this.#origins.delete(first);
  }

  /** The entry is the last value of its key. */
  isValue(number: number): boolean {
    return this.#values?.has(number) === true;
  }

  /** Returns, once each, the numbers of entries that are no values any more and not in the history either. */
  takeReleased(nowMs: number): readonly number[] {
    if (this.#values === undefined) return [];
    this.#released.push(...this.#values.dropExpired(nowMs));
    const first = this.#numberAt(0);
    return this.#released.splice(0).filter((number) => number < first);
  }

  get tail(): StreamTail {
    return { epoch: this.epoch, last: this.#last };
  }

  /** Number of the oldest message that is handed out. */
  firstKept(nowMs: number): number {
    return this.#numberAt(this.#firstKept(nowMs));
  }

  since(tsMs: number, nowMs: number): StreamSince {
    const first = this.#firstKept(nowMs);
    const number = this.#numberAt(Math.max(first, this.#indexFrom(tsMs)));
    const dropped = this.#timesMs[first - 1] ?? Number.NEGATIVE_INFINITY;
    return { number, isComplete: Math.max(this.completeSinceMs, dropped + 1) <= tsMs };
  }

  /** Number of the newest entry up to a time. */
  #lastBefore(tsMs: number): number {
    return this.#numberAt(this.#indexOf((index) => (this.#timesMs[index] ?? 0) > tsMs)) - 1;
  }

  #numberAt(index: number): number {
    return index < this.length ? this.#first + index : this.#last + 1;
  }

  /** The entries after the number, lowest first. */
  *after(number: number): Generator<StreamEntry> {
    const from = Math.max(number + 1, this.#numberAt(0));
    if (from > this.#last) return;
    if (this.#pages !== undefined) yield* this.#pages.entries(this, from);
    for (let index = from - this.#first; index < this.#entries.length; index += 1) {
      const entry = this.#entries[index];
      if (entry !== undefined) yield this.#current(entry);
    }
  }

  /** The numbers of its history. */
  get numbers(): readonly number[] {
    return this.#numbersTo(this.length);
  }

  #numbersTo(index: number): readonly number[] {
    return Array.from({ length: index }, (_, at) => this.#first + at);
  }

  /** Whether all entries after the number are there. */
  reaches(number: number): boolean {
    return number + 1 >= this.#numberAt(0) && number <= this.#last;
  }

  /** Last values with a number above `after` and up to `last`, lowest first. */
  *lastValues(after: number, last: number, nowMs: number): Generator<StreamEntry> {
    for (const entry of this.#values?.after(after, nowMs) ?? this.#lastOfHistory(nowMs)) {
      if (entry.number > last) return;
      if (entry.number > after) yield this.#current(entry);
    }
  }

  #lastOfHistory(nowMs: number): StreamEntry[] {
    const values = new Map<string, StreamEntry>();
    for (const entry of this.after(this.firstKept(nowMs) - 1)) {
      // So that the values are in the order of their numbers.
      values.delete(entry.key ?? '');
      values.set(entry.key ?? '', entry);
    }
    // An empty payload deletes a key, as it deletes a retained message.
    return [...values.values()].filter(({ message }) => message.payload.length > 0);
  }

  /** The message that was accepted with this id. Ids ascend with numbers, except for concurrent calls. */
  find(id: string): StreamEntry | undefined {
    if (id > this.#highestId) return undefined;
    let older = 0;
    let end = this.#last;
    while (end >= this.#numberAt(0) && older < CROSSED_MAX) {
      for (const entry of pageOf(this.after(end - CROSSED_MAX), CROSSED).reverse()) {
        // A shorter rest of the history is followed by entries that were looked at.
        if (entry.number > end) continue;
        if (entry.message.id === id) return entry;
        if (entry.message.id < id) older += 1;
      }
      end -= CROSSED_MAX;
    }
    return undefined;
  }

  /** Removes the entries beyond the stream's limits, with some slack, and returns them. */
  trim(nowMs: number): readonly number[] {
    const { messagesMax, bytesMax, keepSeconds } = this.stream;
    const oldestMs = this.#timesMs[0];
    if (oldestMs === undefined) return [];
    const isTooOld = oldestMs < nowMs - keepSeconds * 1000 - SLACK_MS;
    const isTooLong = this.length > messagesMax * SLACK_FACTOR;
    const isTooLarge = this.bytes > bytesMax * SLACK_FACTOR + this.length * ENTRY_BYTES;
    if (!isTooOld && !isTooLong && !isTooLarge) return [];
    const kept = this.#firstKept(nowMs);
    const lastMs = this.#timesMs[kept - 1];
    if (lastMs !== undefined) this.completeSinceMs = Math.max(this.completeSinceMs, lastMs + 1);
    return this.#drop(kept);
  }

  /** Drops so many of the oldest entries. */
  #drop(count: number): readonly number[] {
    const dropped = this.#numbersTo(count);
    this.#bytesDropped = this.#bytesUpTo[count - 1] ?? this.#bytesDropped;
    this.#timesMs.splice(0, count);
    this.#bytesUpTo.splice(0, count);
    this.#entries.splice(0, count);
    this.#first += count;
    return dropped;
  }

  /** Index of the first entry that is handed out. */
  #firstKept(nowMs: number): number {
    const { messagesMax, bytesMax, keepSeconds } = this.stream;
    const { length } = this;
    const byCount = length - messagesMax;
    const byTime = this.#indexFrom(nowMs - keepSeconds * 1000);
    const bytesFrom = (index: number) => this.#bytesFrom(index) - (length - index) * ENTRY_BYTES;
    const bySize = bytesFrom(0) > bytesMax ? this.#indexOf((index) => bytesFrom(index) <= bytesMax) : 0;
    return Math.max(0, byCount, byTime, bySize);
  }

  /** Index of the first entry from a time on. */
  #indexFrom(tsMs: number): number {
    return this.#indexOf((index) => (this.#timesMs[index] ?? 0) >= tsMs);
  }

  /** Index of the first entry for which `isIt` is true; it is then true for all later ones. */
  #indexOf(isIt: (index: number) => boolean): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isIt(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Entries of an earlier epoch keep their numbers in the present one. */
  #current(entry: StreamEntry): StreamEntry {
    return entry.epoch === this.epoch ? entry : { ...entry, epoch: this.epoch };
  }
}
