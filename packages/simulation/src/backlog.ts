/** Messages that have been published and are not dealt with: unanswered, or left to workers. */
export class Backlog {
  /** Published, and neither answered nor given up. */
  unanswered = 0;
  /** Deliveries that workers have been given, and have not made. */
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

/** A backlog that grows by less than this share of what is published is chance: bursts, and publishers that return. */
const GROWTH_SHARE_MAX = 0.05;

/** Whether the backlog does not grow through both halves of a time in which this many messages were published. */
export function keepsUp({ begin, half, end }: BacklogTrend, published: number): boolean {
  const chance = (GROWTH_SHARE_MAX * published) / 2;
  return half - begin <= chance || end - half <= chance;
}

/** Messages of that time that left the backlog: the first guess of what is borne. */
export function borneShare({ begin, end }: BacklogTrend, published: number): number {
  return published === 0 ? 1 : Math.max(0, 1 - (end - begin) / published);
}
