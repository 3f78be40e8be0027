/** Determines when the messages of a run are due: streams take turns, spread evenly over their period. */
export interface Schedule {
  readonly startMicros: number;
  /** Streams of all processes together, and the place of this process's in their order. */
  readonly streams: number;
  readonly perSecond: number;
}

const MICROS_PER_SECOND = 1_000_000;

/**
 * The time at which message `counter` of the stream at `place` is due. Streams take turns, so that a thousand
 * publishers of one message a second send a steady thousand and no burst.
 */
export function dueMicros(
  { startMicros, streams, perSecond }: Schedule,
  place: number,
  counter: number,
): number {
  const period = MICROS_PER_SECOND / perSecond;
  return startMicros + Math.round((counter + place / streams) * period);
}

/** One stream of the pacer. */
export interface PacedStream {
  /** The place among all streams of the group. */
  readonly place: number;
  send(dueMicros: number): void;
}

/** Walks through the messages of one group's streams in the order in which they are due. */
export class Pacer {
  readonly #schedule: Schedule;
  readonly #streams: readonly PacedStream[];
  readonly #messages: number;
  #next = 0;

  /** `streams` in the order of their places; each sends this many messages. */
  constructor(schedule: Schedule, streams: readonly PacedStream[], messages: number) {
    this.#schedule = schedule;
    this.#streams = streams;
    this.#messages = messages * streams.length;
  }

  get isDone(): boolean {
    return this.#next >= this.#messages;
  }

  /** Sends all messages that are due by now, and returns when the next one is due; undefined after the last. */
  sendDue(nowMicros: number): number | undefined {
    while (!this.isDone) {
      const stream = this.#streams[this.#next % this.#streams.length];
      if (stream === undefined) return undefined;
      const due = dueMicros(this.#schedule, stream.place, Math.floor(this.#next / this.#streams.length));
      if (due > nowMicros) return due;
      this.#next += 1;
      stream.send(due);
    }
    return undefined;
  }
}
