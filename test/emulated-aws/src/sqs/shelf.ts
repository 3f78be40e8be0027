import type { Clock } from '@apus/emulator/service';
import type { Line, Verdict } from './line.ts';
import type { MessageState, QueuedMessage } from './message.ts';

export interface Depth {
  readonly available: number;
  readonly delayed: number;
  readonly inFlight: number;
}

/** The messages of a queue with their states, and until when each state lasts. */
export class Shelf {
  readonly #clock: Clock;
  readonly #line: Line;
  readonly #messages = new Map<string, QueuedMessage>();
  readonly #depth: Record<MessageState, number> = { available: 0, delayed: 0, inFlight: 0, gone: 0 };
  readonly #listeners = new Set<() => void>();
  #isAnnouncing = false;

  constructor(clock: Clock, line: Line) {
    this.#clock = clock;
    this.#line = line;
  }

  get size(): number {
    return this.#messages.size;
  }

  get depth(): Depth {
    const { available, delayed, inFlight } = this.#depth;
    return { available, delayed, inFlight };
  }

  /** Whether a receive would find a message; for a FIFO queue, whether a group is free. */
  get hasAvailable(): boolean {
    return this.#line.hasAvailable;
  }

  /** Calls back whenever something may be received; the returned function ends that. */
  onAvailable(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The message with this id, unless it is gone. */
  find(messageId: string): QueuedMessage | undefined {
    return this.#messages.get(messageId);
  }

  choose(messagesMax: number, judge: (message: QueuedMessage) => Verdict): QueuedMessage[] {
    return this.#line.choose(messagesMax, judge);
  }

  /** Takes in a message that is available, or will be after its delay. */
  add(message: QueuedMessage, delayMs: number): void {
    this.#messages.set(message.id, message);
    this.#depth[message.state] += 1;
    this.#line.add(message);
    if (delayMs > 0) this.#showAfter(message, delayMs);
    this.#announce();
  }

  /** Hides the message from receives for this long. */
  hide(message: QueuedMessage, state: 'delayed' | 'inFlight', ms: number): void {
    this.#become(message, state);
    this.#showAfter(message, ms);
  }

  show(message: QueuedMessage): void {
    this.#become(message, 'available');
    this.#announce();
  }

  remove(message: QueuedMessage): void {
    const before = message.state;
    message.cancelTimer();
    this.#depth[before] -= 1;
    message.state = 'gone';
    this.#messages.delete(message.id);
    this.#line.remove(message, before);
    // Its group may be free now.
    this.#announce();
  }

  clear(): void {
    for (const message of this.#messages.values()) this.remove(message);
  }

  /** Nothing becomes available any more. */
  stop(): void {
    this.#listeners.clear();
    for (const message of this.#messages.values()) message.cancelTimer();
  }

  #showAfter(message: QueuedMessage, ms: number): void {
    message.cancelTimer = this.#clock.setTimer(ms, () => this.show(message));
  }

  #become(message: QueuedMessage, state: Exclude<MessageState, 'gone'>): void {
    const before = message.state;
    message.cancelTimer();
    message.cancelTimer = () => {};
    this.#depth[before] -= 1;
    this.#depth[state] += 1;
    message.state = state;
    this.#line.changed(message, before);
  }

  /** Listeners receive: not while another receive is choosing, but as soon as it is done. */
  #announce(): void {
    if (this.#isAnnouncing || !this.#line.hasAvailable) return;
    this.#isAnnouncing = true;
    queueMicrotask(() => {
      this.#isAnnouncing = false;
      for (const listener of [...this.#listeners]) if (this.#line.hasAvailable) listener();
    });
  }
}
