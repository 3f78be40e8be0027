/** Messages that have been published and are not finished: unanswered, or left to workers. */
export class Backlog {
  /** Published messages that have neither been answered nor given up. */
  unanswered = 0;
  /** Deliveries that workers have to make and have not made. */
  #ofWorkers = 0;
  readonly #recipients: number;

  constructor(recipients: number) {
    this.#recipients = recipients;
  }

  workersOwe(deliveries: number): void {
    this.#ofWorkers += deliveries;
  }

  get messages(): number {
    return this.unanswered + this.#ofWorkers / this.#recipients;
  }
}

/** The backlog, in messages, when the measured time begins, at its half, and at its end. */
export interface BacklogTrend {
  readonly begin: number;
  readonly half: number;
  readonly end: number;
}

/**
 * If a backlog grows by less than this share of the published messages, the cause is chance: bursts, and publishers
 * that return.
 */
const GROWTH_SHARE_MAX = 0.05;

/** Whether the backlog stops growing in at least one half of a time in which this many messages were published. */
export function keepsUp({ begin, half, end }: BacklogTrend, published: number): boolean {
  const chance = (GROWTH_SHARE_MAX * published) / 2;
  return half - begin <= chance || end - half <= chance;
}

/** Messages of that time that left the backlog: the first guess of the sustainable rate. */
export function borneShare({ begin, end }: BacklogTrend, published: number): number {
  return published === 0 ? 1 : Math.max(0, 1 - (end - begin) / published);
}
