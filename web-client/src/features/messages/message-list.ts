import { FrameListeners, nextFrame, type Schedule } from '../../engine/log/frames.ts';
import { Ring } from '../../engine/log/ring.ts';
import type { LoggedMessage, MessageLog, PlacedMark } from '../../engine/types.ts';
import type { Predicate } from './message-filter.ts';
import type { Found } from './query-matcher.ts';

/** How long one step of the search through the log may take, so that no frame waits for it. */
const SCAN_MS = 6;

/** Messages between two looks at the clock. */
const SCAN_STEP = 200;

/** Messages and bytes of their payloads that a worker is asked about at a time: to hand them over takes some ms. */
const BATCH_MESSAGES_MAX = 200;
const BATCH_BYTES_MAX = 256 * 1024;

/** Looks through messages elsewhere (`MessageSearch`). */
export interface SlowSearch {
  readonly isStopped: boolean;
  test(messages: readonly LoggedMessage[]): Promise<readonly Found[]>;
  close(): void;
}

/**
 * The messages of a log that the table shows: those that match a filter, newest first, live or paused. Without a filter
 * it is the log itself and costs nothing; with one it stores the sequence numbers of matches.
 */
export class MessageList {
  readonly #log: MessageLog;
  readonly #schedule: Schedule;
  readonly #clock: () => number;
  readonly #frames: FrameListeners;
  #predicate: Predicate | undefined;
  #search: SlowSearch | undefined;
  /** Another one for each filter, so that the answers to an earlier search are not taken. */
  #epoch = 0;
  /** The position of a slow search through new messages; it ascends. */
  #ahead = 0;
  #isAsking = false;
  #unsearched = 0;
  /** Matches among the messages that came since the filter was set, ascending. */
  #newer: Ring<number>;
  /** Matches among the messages that were there, descending. */
  #older: number[] = [];
  /** The position of the search through old messages; it descends. */
  #scanned = 0;
  #isScanning = false;
  #held: readonly LoggedMessage[] | undefined;
  /** Whether it is held because the pointer is over it, and not because the user has asked for it. */
  #isPointedAt = false;
  #heldMarks: readonly PlacedMark[] = [];
  #newWhileHeld = 0;
  #changes = 0;

  constructor(log: MessageLog, schedule?: Schedule, clock: () => number = () => performance.now()) {
    this.#log = log;
    this.#schedule = schedule ?? nextFrame;
    this.#clock = clock;
    this.#frames = new FrameListeners(schedule);
    this.#newer = new Ring(log.limits.messagesMax);
  }

  /** Begins to follow the log. Returns a function that stops this; it may be attached again. */
  attach(): () => void {
    const stops = [
      this.#log.onAppend((messages) => this.#appended(messages)),
      this.#log.onClear(() => this.#cleared()),
    ];
    // Applies the filter to earlier messages.
    if (this.#isFiltered) this.setFilter(this.#predicate, this.#search);
    return () => {
      for (const stop of stops) stop();
      this.#epoch += 1;
      this.#search?.close();
    };
  }

  get #isFiltered(): boolean {
    return this.#predicate !== undefined || this.#search !== undefined;
  }

  /** Messages that took too long to search. */
  get unsearched(): number {
    return this.#unsearched;
  }

  /** Whether the search was given up. */
  get isSearchStopped(): boolean {
    return this.#search?.isStopped === true;
  }

  /** Goes up with each change. */
  get changes(): number {
    return this.#changes;
  }

  get size(): number {
    if (this.#held !== undefined) return this.#held.length;
    return !this.#isFiltered ? this.#log.size : this.#newer.size + this.#older.length;
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  /** Whether the user has paused it, or has scrolled away from the newest message. */
  get isPaused(): boolean {
    return this.isHeld && !this.#isPointedAt;
  }

  /** Matches since the list was paused. */
  get newWhileHeld(): number {
    return this.#newWhileHeld;
  }

  /** Whether old messages are still being looked through. */
  get isScanning(): boolean {
    return this.#isScanning;
  }

  /** @param index 0 is the newest */
  at(index: number): LoggedMessage | undefined {
    if (this.#held !== undefined) return this.#held[index];
    const { firstSequence, endSequence } = this.#log;
    if (!this.#isFiltered) return this.#log.at(endSequence - 1 - index);
    const sequence =
      index < this.#newer.size
        ? this.#newer.at(this.#newer.end - 1 - index)
        : this.#older[index - this.#newer.size];
    return sequence === undefined || sequence < firstSequence ? undefined : this.#log.at(sequence);
  }

  /** The present index of a message; undefined if it is not shown. */
  indexOf(message: LoggedMessage): number | undefined {
    const { size } = this;
    let low = 0;
    let high = size - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const sequence = this.at(middle)?.sequence;
      if (sequence === message.sequence) return middle;
      if (sequence !== undefined && sequence > message.sequence) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  /** The gaps among the messages. */
  get marks(): readonly PlacedMark[] {
    return this.#held === undefined ? this.#log.marks : this.#heldMarks;
  }

  /** How many of the messages that are shown are not older than `sequence`. */
  countFrom(sequence: number): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.at(middle)?.sequence ?? -1) >= sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** @param search looks through the messages that fit the predicate */
  setFilter(predicate: Predicate | undefined, search?: SlowSearch): void {
    this.#epoch += 1;
    this.#search?.close();
    this.#predicate = predicate;
    this.#search = search;
    this.#unsearched = 0;
    this.#ahead = this.#log.endSequence;
    this.#newer.clear();
    this.#older = [];
    this.#held = undefined;
    this.#newWhileHeld = 0;
    this.#scanned = this.#log.endSequence;
    this.#changed();
    if (search !== undefined) void this.#ask();
    else if (predicate !== undefined && !this.#isScanning) {
      this.#isScanning = true;
      this.#scan();
    }
  }

  /** Freezes the list. Shown messages stay readable, even when the log drops them. */
  hold(): void {
    this.#hold(false);
  }

  /** The pointer is over the list: until \`unpoint\` no message moves from under it. */
  point(): void {
    // An empty list has no message to hold, and shows the first ones wherever the pointer is.
    if (this.#held === undefined && this.size > 0) this.#hold(true);
  }

  unpoint(): void {
    if (this.#isPointedAt) this.release();
  }

  #hold(isPointedAt: boolean): void {
    const wasPointedAt = this.#isPointedAt;
    this.#isPointedAt = isPointedAt;
    if (this.#held !== undefined) {
      if (wasPointedAt !== isPointedAt) this.#changed();
      return;
    }
    this.#held = Array.from({ length: this.size }, (_, index) => this.at(index)).filter(
      (message) => message !== undefined,
    );
    this.#heldMarks = this.#log.marks;
    this.#newWhileHeld = 0;
    this.#changed();
  }

  release(): void {
    this.#isPointedAt = false;
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.#newWhileHeld = 0;
    this.#changed();
  }

  onFrame(listener: () => void): () => void {
    return this.#frames.add(listener);
  }

  #appended(messages: readonly LoggedMessage[]): void {
    if (this.#search !== undefined) {
      void this.#ask();
      return;
    }
    const predicate = this.#predicate;
    let fitting = messages.length;
    if (predicate !== undefined) {
      fitting = 0;
      for (const message of messages) {
        if (!predicate(message)) continue;
        this.#newer.push(message.sequence);
        fitting += 1;
      }
      this.#forgetEvicted();
    }
    if (this.#held !== undefined) this.#newWhileHeld += fitting;
    this.#changed();
  }

  /** Has the slow search look at new messages, and then at old ones, until it has seen all. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    for (let batch = this.#nextBatch(); batch !== undefined; batch = this.#nextBatch()) {
      this.#isScanning = true;
      const { search, messages, found } = batch;
      const epoch = this.#epoch;
      const answers = await search.test(messages);
      if (epoch !== this.#epoch) continue;
      for (const [index, { sequence }] of messages.entries()) {
        const answer = answers[index];
        if (answer === undefined) this.#unsearched += 1;
        if (answer !== true) continue;
        found.push(sequence);
        if (found === this.#newer && this.#held !== undefined) this.#newWhileHeld += 1;
      }
      this.#forgetEvicted();
      this.#changed();
    }
    this.#isAsking = false;
    this.#isScanning = false;
    this.#changed();
  }

  /** The next messages for the slow search, and the list in which those that fit belong. */
  #nextBatch() {
    const search = this.#search;
    if (search === undefined || search.isStopped) return undefined;
    const { firstSequence, endSequence } = this.#log;
    const messages: LoggedMessage[] = [];
    let bytes = 0;
    const take = (sequence: number): void => {
      const message = this.#log.at(sequence);
      if (message === undefined || this.#predicate?.(message) === false) return;
      messages.push(message);
      bytes += message.payloadLength;
    };
    const hasRoom = (): boolean => messages.length < BATCH_MESSAGES_MAX && bytes < BATCH_BYTES_MAX;
    this.#ahead = Math.max(this.#ahead, firstSequence);
    const isNewer = this.#ahead < endSequence;
    if (isNewer) for (; this.#ahead < endSequence && hasRoom(); this.#ahead += 1) take(this.#ahead);
    else while (this.#scanned > firstSequence && hasRoom()) take(--this.#scanned);
    if (messages.length === 0 && !isNewer) return undefined;
    return { search, messages, found: isNewer ? this.#newer : this.#older };
  }

  #forgetEvicted(): void {
    const { firstSequence } = this.#log;
    while ((this.#older.at(-1) ?? Number.POSITIVE_INFINITY) < firstSequence) this.#older.pop();
    while ((this.#newer.at(this.#newer.first) ?? Number.POSITIVE_INFINITY) < firstSequence)
      this.#newer.shift();
  }

  /** Searches the messages that existed when the filter was set, newest first, a few at a time. */
  #scan(): void {
    const predicate = this.#predicate;
    const { firstSequence } = this.#log;
    if (this.#search !== undefined) return;
    const startedAt = this.#clock();
    while (predicate !== undefined && this.#scanned > firstSequence) {
      for (let step = 0; step < SCAN_STEP && this.#scanned > firstSequence; step += 1) {
        this.#scanned -= 1;
        const message = this.#log.at(this.#scanned);
        if (message !== undefined && predicate(message)) this.#older.push(this.#scanned);
      }
      if (this.#clock() - startedAt >= SCAN_MS) {
        this.#changed();
        this.#schedule(() => this.#scan());
        return;
      }
    }
    this.#isScanning = false;
    this.#changed();
  }

  #cleared(): void {
    this.#newer.clear();
    this.#older = [];
    this.#scanned = this.#log.firstSequence;
    this.#held = undefined;
    this.#newWhileHeld = 0;
    this.#changed();
  }

  #changed(): void {
    this.#changes += 1;
    this.#frames.changed();
  }
}
