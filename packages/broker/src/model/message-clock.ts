import type { Clock } from './clock.ts';

import type { MessageId } from './message.ts';

const TIME_DIGITS = 9;
const COUNTER_DIGITS = 4;
const COUNTER_MAX = 36 ** COUNTER_DIGITS - 1;

/** When a message was accepted, in milliseconds since 1970. */
export function messageTimeMs(id: MessageId): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), 36);
}

/**
 * A hybrid logical clock (Kulkarni et al., 2014): the wall clock while it moves forward, a counter while it does not.
 * Identifiers of one process ascend strictly; an identifier that was seen is never followed by a smaller one.
 * Written with fixed width, so that strings compare as the times do.
 */
export class MessageClock {
  readonly #clock: Clock;
  readonly #process: string;
  #timeMs = 0;
  #counter = 0;

  /** `process` makes the identifiers of two processes different. */
  constructor(clock: Clock, process: string) {
    this.#clock = clock;
    this.#process = process;
  }

  /** The last time given or seen, without the process. Another process observes it. */
  read(): string {
    return `${digits(this.#timeMs, TIME_DIGITS)}${digits(this.#counter, COUNTER_DIGITS)}`;
  }

  next(): MessageId {
    const nowMs = this.#clock.now();
    if (nowMs > this.#timeMs) {
      this.#timeMs = nowMs;
      this.#counter = 0;
    } else if (this.#counter === COUNTER_MAX) {
      this.#timeMs += 1;
      this.#counter = 0;
    } else {
      this.#counter += 1;
    }
    return `${this.read()}-${this.#process}`;
  }

  /**
   * Observes a time or an identifier of another process: the next identifier here will be larger. A time that is more
   * than `aheadMsMax` ahead of the wall clock is ignored.
   */
  observe(time: string, aheadMsMax = Number.POSITIVE_INFINITY): void {
    const timeMs = messageTimeMs(time);
    const counter = Number.parseInt(time.slice(TIME_DIGITS, TIME_DIGITS + COUNTER_DIGITS), 36);
    if (timeMs > this.#clock.now() + aheadMsMax) return;
    if (timeMs < this.#timeMs || (timeMs === this.#timeMs && counter <= this.#counter)) return;
    this.#timeMs = timeMs;
    this.#counter = counter;
  }
}

/**
 * The clock of one event. A time that it observes counts for the identifiers of the event, and for none of the process:
 * a client chooses that time, and other clients share the process [SEC-CLOCK-1].
 */
export class EventClock {
  readonly #shared: MessageClock;
  readonly #ports: { readonly clock: Clock; readonly randomId: () => string };
  /** Until the shared clock has passed it. */
  #own: MessageClock | undefined;

  constructor(shared: MessageClock, ports: { readonly clock: Clock; readonly randomId: () => string }) {
    this.#shared = shared;
    this.#ports = ports;
  }

  read(): string {
    const shared = this.#shared.read();
    if (this.#own === undefined || this.#own.read() < shared) return shared;
    return this.#own.read();
  }

  next(): MessageId {
    const id = this.#shared.next();
    if (this.#own === undefined) return id;
    const own = this.#own.read();
    // The ids of the two differ behind their times.
    if (id.slice(0, own.length) <= own) return this.#own.next();
    this.#own = undefined;
    return id;
  }

  observe(time: string, aheadMsMax?: number): void {
    // With a name of its own: two events may observe the same time.
    this.#own ??= new MessageClock(this.#ports.clock, this.#ports.randomId());
    this.#own.observe(time, aheadMsMax);
  }
}

function digits(value: number, width: number): string {
  return value.toString(36).padStart(width, '0');
}
