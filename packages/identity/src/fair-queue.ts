export interface FairQueueOptions {
  readonly atATime: number;
  /** Most waiting tasks. Above it a task of the busiest lanes is refused. */
  readonly waitingMax: number;
}

interface Waiting {
  readonly lanes: readonly string[];
  readonly start: () => Promise<void>;
  readonly turnAway: () => void;
}

/** After this many tasks the counts of the lanes are halved: old turns matter little, and the counts stay few. */
const HALVED_AFTER = 1_000;

/**
 * Runs a few tasks at a time. Each task belongs to lanes, such as the name and the address of a login. The next task is
 * the one whose lanes have had the fewest turns: the backlog of one client waits behind the first tasks of all others.
 * Among equals it is the latest one: the client that came first may have gone by now.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #waiting: Waiting[] = [];
  readonly #turns = new Map<string, number>();
  #running = 0;
  #started = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** The task's result, or undefined: the queue is full, and the task was not run. */
  run<T>(lanes: readonly string[], task: () => Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        lanes,
        start: () => task().then(resolve, reject),
        turnAway: () => resolve(undefined),
      };
      this.#waiting.push(waiting);
      if (this.#waiting.length > this.#options.waitingMax) this.#turnAwayBusiest();
      this.#next();
    });
  }

  #next(): void {
    if (this.#running >= this.#options.atATime) return;
    const next = this.#take((turns, fewest) => turns <= fewest);
    if (next === undefined) {
      if (this.#running === 0) this.#turns.clear();
      return;
    }
    this.#running++;
    this.#count(next);
    void next.start().finally(() => {
      this.#running--;
      this.#next();
    });
  }

  /** The oldest task of the busiest lanes. */
  #turnAwayBusiest(): void {
    this.#take((turns, most) => turns > most)?.turnAway();
  }

  #take(isBetter: (turns: number, best: number) => boolean): Waiting | undefined {
    let best = 0;
    let bestTurns: number | undefined;
    for (const [index, { lanes }] of this.#waiting.entries()) {
      const turns = this.#turnsOf(lanes);
      if (bestTurns !== undefined && !isBetter(turns, bestTurns)) continue;
      [best, bestTurns] = [index, turns];
    }
    return this.#waiting.splice(best, 1)[0];
  }

  #turnsOf(lanes: readonly string[]): number {
    let turns = 0;
    for (const lane of lanes) turns += this.#turns.get(lane) ?? 0;
    return turns;
  }

  #count({ lanes }: Waiting): void {
    for (const lane of lanes) this.#turns.set(lane, (this.#turns.get(lane) ?? 0) + 1);
    if (++this.#started % HALVED_AFTER !== 0) return;
    for (const [lane, turns] of this.#turns) {
      if (turns > 1) this.#turns.set(lane, Math.floor(turns / 2));
      else this.#turns.delete(lane);
    }
  }
}
