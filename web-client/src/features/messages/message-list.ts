import { FrameListeners, nextFrame, type Schedule } from '../../engine/log/frames.ts';
import { Ring } from '../../engine/log/ring.ts';
import type { LoggedMessage, MessageLog, PlacedMark } from '../../engine/types.ts';
import type { Predicate } from './message-filter.ts';

/** How long one step of the search through the log may take, so that no frame waits for it. */
const SCAN_MS = 6;

/** Messages between two looks at the clock. */
const SCAN_STEP = 200;

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
  /** Matches among the messages that came since the filter was set, ascending. */
  #newer: Ring<number>;
  /** Matches among the messages that were there, descending. */
  #older: number[] = [];
  /** The position of the search through old messages; it descends. */
  #scanned = 0;
  #isScanning = false;
  #held: readonly LoggedMessage[] | undefined;
  #heldMarks: readonly PlacedMark[] = [];
  #newWhileHeld = 0;
  #version = 0;

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
    if (this.#predicate !== undefined) this.setFilter(this.#predicate);
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Different after every change. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    if (this.#held !== undefined) return this.#held.length;
    return this.#predicate === undefined ? this.#log.size : this.#newer.size + this.#older.length;
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
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
    if (this.#predicate === undefined) return this.#log.at(endSequence - 1 - index);
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

  setFilter(predicate: Predicate | undefined): void {
    this.#predicate = predicate;
    this.#newer.clear();
    this.#older = [];
    this.#held = undefined;
    this.#newWhileHeld = 0;
    this.#scanned = this.#log.endSequence;
    this.#changed();
    if (predicate !== undefined && !this.#isScanning) {
      this.#isScanning = true;
      this.#scan();
    }
  }

  /** Freezes the list. Shown messages stay readable, even when the log drops them. */
  hold(): void {
    if (this.#held !== undefined) return;
    this.#held = Array.from({ length: this.size }, (_, index) => this.at(index)).filter(
      (message) => message !== undefined,
    );
    this.#heldMarks = this.#log.marks;
    this.#newWhileHeld = 0;
    this.#changed();
  }

  release(): void {
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.#newWhileHeld = 0;
    this.#changed();
  }

  onFrame(listener: () => void): () => void {
    return this.#frames.add(listener);
  }

  #appended(messages: readonly LoggedMessage[]): void {
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
    this.#version += 1;
    this.#frames.changed();
  }
}
