import type { Random } from './random.ts';

/** How many turns of the event loop a task may be delayed. */
const TURNS_MAX = 4;

interface Task {
  turnsLeft: number;
  readonly run: () => void;
}

/**
 * Runs tasks in a seeded random order, each one to four turns of the event loop later. It is used wherever API Gateway
 * promises no order. It needs no time, only turns: it works at full speed, and with a clock that stands still.
 */
export class Shuffler {
  readonly #random: Random;
  #tasks: Task[] = [];
  #scheduled = false;

  constructor(random: Random) {
    this.#random = random;
  }

  add(run: () => void): void {
    this.#tasks.push({ turnsLeft: this.#random.integer(TURNS_MAX), run });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#tasks.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#turn();
      this.#schedule();
    });
  }

  #turn(): void {
    const due = this.#tasks.filter((task) => task.turnsLeft === 0);
    this.#tasks = this.#tasks.filter((task) => task.turnsLeft > 0);
    for (const task of this.#tasks) task.turnsLeft -= 1;
    while (due.length > 0) {
      const [task] = due.splice(this.#random.integer(due.length), 1);
      task?.run();
    }
  }
}
