import {
  type AppendOptions,
  type MessageOrigin,
  ORIGINS_MAX,
  type StreamDeclaration,
  type StreamEntry,
  type StreamSince,
  type StreamTail,
} from '@apus/broker';
import { bytesOf, ENTRY_BYTES } from './entry-bytes.ts';
import { StreamValues } from './stream-values.ts';

/** Memory of a topic beside its entries. */
export const TOPIC_BYTES = 1024;

/** History is kept for this much longer than it is handed out: a reader that began in time reaches the end. */
const SLACK_MS = 60_000;

/** Messages and bytes are kept up to this many times the stream's limits. */
const SLACK_FACTOR = 2;

/** How many messages may stand after one with a lower id. */
const CROSSED_MAX = 100;

interface Held {
  readonly entry: StreamEntry;
  /** Bytes of its message, and of all before it. */
  readonly bytesUpTo: number;
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
  #last: number;
  #held: Held[] = [];
  /** Last values, for a stream with a snapshot. */
  readonly #values: StreamValues | undefined;
  #countedValueBytes = 0;
  #released: StreamEntry[] = [];
  /** Entries from before a restart that are no history. */
  #apart: StreamEntry[] = [];
  #lastTsMs = 0;
  readonly #origins = new Map<string, KnownOrigin>();

  constructor(stream: StreamDeclaration, state: TopicState, nowMs: number) {
    this.stream = stream;
    this.tenant = state.tenant;
    this.topic = state.topic;
    this.holder = state.holder;
    this.epoch = state.epoch;
    this.completeSinceMs = state.completeSinceMs;
    this.usedAtMs = nowMs;
    this.#last = state.last;
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
    const entry = this.#held[place - this.#numberAt(0)]?.entry;
    return number < last || entry === undefined ? 'repeated' : this.#current(entry);
  }

  get last(): number {
    return this.#last;
  }

  get length(): number {
    return this.#held.length;
  }

  /** Memory of all its entries. */
  get bytes(): number {
    const first = this.#held[0];
    const before = first === undefined ? 0 : first.bytesUpTo - bytesOf(first.entry);
    return this.#bytesUpTo - before;
  }

  get #bytesUpTo(): number {
    return this.#held.at(-1)?.bytesUpTo ?? 0;
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
    const end = this.#held.at(-1)?.entry.number;
    if (end !== undefined && entry.number !== end + 1) this.#setApart();
    this.#push(entry);
  }

  /** All entries were restored. Returns those that are no history: they are values, or not needed. */
  endRestore(): readonly StreamEntry[] {
    const end = this.#held.at(-1)?.entry.number;
    if (end !== undefined && end !== this.#last) this.#setApart();
    this.#released = [];
    return this.#apart.splice(0);
  }

  #setApart(): void {
    this.#apart.push(...this.#held.map(({ entry }) => entry));
    this.#held = [];
  }

  #push(entry: StreamEntry): void {
    this.#held.push({ entry, bytesUpTo: this.#bytesUpTo + bytesOf(entry) });
    this.#last = Math.max(this.#last, entry.number);
    this.#lastTsMs = entry.tsMs;
    this.usedAtMs = entry.tsMs;
    if (entry.origin !== undefined) this.#note(entry.origin, entry.number);
    if (this.#values !== undefined) this.#released.push(...this.#values.take(entry));
  }

  #note({ source, number }: MessageOrigin, place: number): void {
    if (number <= (this.#origins.get(source)?.[1] ?? -1)) return;
    this.#origins.set(source, [source, number, place]);
    if (this.#origins.size > ORIGINS_MAX)
      for (const first of this.#origins.keys()) return void this.#origins.delete(first);
  }

  /** The entry is the last value of its key. */
  isValue(entry: StreamEntry): boolean {
    return this.#values?.has(entry) === true;
  }

  /** Returns, once each, the entries that are no values any more and not in the history either. */
  takeReleased(nowMs: number): readonly StreamEntry[] {
    if (this.#values === undefined) return [];
    this.#released.push(...this.#values.dropExpired(nowMs));
    const first = this.#numberAt(0);
    return this.#released.splice(0).filter(({ number }) => number < first);
  }

  /**
   * By how much the memory of values has grown since the last call. An entry that is also in the history counts twice.
   */
  takeValueBytes(): number {
    const bytes = this.#values?.bytes ?? 0;
    const growth = bytes - this.#countedValueBytes;
    this.#countedValueBytes = bytes;
    return growth;
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
    const number = this.#numberAt(
      Math.max(
        first,
        this.#indexOf(({ entry }) => entry.tsMs >= tsMs),
      ),
    );
    const dropped = this.#held[first - 1]?.entry.tsMs ?? Number.NEGATIVE_INFINITY;
    return { number, isComplete: Math.max(this.completeSinceMs, dropped + 1) <= tsMs };
  }

  /** Number of the newest entry up to a time. */
  #lastBefore(tsMs: number): number {
    return this.#numberAt(this.#indexOf(({ entry }) => entry.tsMs > tsMs)) - 1;
  }

  #numberAt(index: number): number {
    return this.#held[index]?.entry.number ?? this.#last + 1;
  }

  /** The entries after the number, lowest first. */
  *after(number: number): Generator<StreamEntry> {
    for (let index = this.#indexAfter(number); index < this.#held.length; index += 1) {
      const held = this.#held[index];
      if (held !== undefined) yield this.#current(held.entry);
    }
  }

  /** Whether all entries after the number are there. */
  reaches(number: number): boolean {
    const first = this.#held[0]?.entry.number ?? this.#last + 1;
    return number + 1 >= first && number <= this.#last;
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
    for (let index = this.#held.length - 1; index >= this.#firstKept(nowMs); index -= 1) {
      const entry = this.#held[index]?.entry;
      if (entry !== undefined && !values.has(entry.key ?? '')) values.set(entry.key ?? '', entry);
    }
    // An empty payload deletes a key, as it deletes a retained message.
    return [...values.values()].filter(({ message }) => message.payload.length > 0).reverse();
  }

  /** The message that was accepted with this id. Ids ascend with numbers, except for concurrent calls. */
  find(id: string): StreamEntry | undefined {
    let older = 0;
    for (let index = this.#held.length - 1; index >= 0 && older < CROSSED_MAX; index -= 1) {
      const entry = this.#held[index]?.entry;
      if (entry?.message.id === id) return this.#current(entry);
      if (entry !== undefined && entry.message.id < id) older += 1;
    }
    return undefined;
  }

  /** Removes the entries beyond the stream's limits, with some slack, and returns them. */
  trim(nowMs: number): readonly StreamEntry[] {
    const { messagesMax, bytesMax, keepSeconds } = this.stream;
    const oldest = this.#held[0];
    if (oldest === undefined) return [];
    const isTooOld = oldest.entry.tsMs < nowMs - keepSeconds * 1000 - SLACK_MS;
    const isTooLong = this.#held.length > messagesMax * SLACK_FACTOR;
    const isTooLarge = this.bytes > bytesMax * SLACK_FACTOR + this.#held.length * ENTRY_BYTES;
    if (!isTooOld && !isTooLong && !isTooLarge) return [];
    const dropped = this.#held.splice(0, this.#firstKept(nowMs));
    const last = dropped.at(-1)?.entry.tsMs;
    if (last !== undefined) this.completeSinceMs = Math.max(this.completeSinceMs, last + 1);
    return dropped.map(({ entry }) => entry);
  }

  /** Index of the first entry that is handed out. */
  #firstKept(nowMs: number): number {
    const { messagesMax, bytesMax, keepSeconds } = this.stream;
    const byCount = this.#held.length - messagesMax;
    const sinceMs = nowMs - keepSeconds * 1000;
    const byTime = this.#indexOf(({ entry }) => entry.tsMs >= sinceMs);
    const total = this.#bytesUpTo;
    const length = this.#held.length;
    let bySize = 0;
    if (this.bytes - length * ENTRY_BYTES > bytesMax)
      bySize = this.#indexOf(({ entry, bytesUpTo }, index) => {
        const bytes = total - bytesUpTo + bytesOf(entry) - (length - index) * ENTRY_BYTES;
        return bytes <= bytesMax;
      });
    return Math.max(0, byCount, byTime, bySize);
  }

  #indexAfter(number: number): number {
    return Math.max(0, number + 1 - (this.#held[0]?.entry.number ?? 0));
  }

  /** Index of the first entry for which `isIt` is true; it is then true for all later ones. */
  #indexOf(isIt: (held: Held, index: number) => boolean): number {
    let low = 0;
    let high = this.#held.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const held = this.#held[middle];
      if (held !== undefined && isIt(held, middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Entries of an earlier epoch keep their numbers in the present one. */
  #current(entry: StreamEntry): StreamEntry {
    return entry.epoch === this.epoch ? entry : { ...entry, epoch: this.epoch };
  }
}
