import type { EventLoop } from './event-loop.ts';

interface Waiting {
  readonly serve: (done: () => void) => void;
}

/**
 * Servers with a queue: first come, first served. With one server it stands for a message group of SQS FIFO, or a
 * client with one frame in flight.
 */
export class FifoStation {
  readonly #servers: number;
  #busy = 0;
  #line: Waiting[] = [];
  #head = 0;

  constructor(servers: number) {
    this.#servers = servers;
  }

  get waiting(): number {
    return this.#line.length - this.#head;
  }

  /** Calls `serve` in turn; `serve` calls `done` at its end. */
  enter(serve: (done: () => void) => void): void {
    this.#line.push({ serve });
    this.#next();
  }

  #next(): void {
    while (this.#busy < this.#servers && this.waiting > 0) {
      const next = this.#line[this.#head];
      this.#head += 1;
      if (this.#head > 1_000 && this.#head * 2 > this.#line.length) {
        this.#line = this.#line.slice(this.#head);
        this.#head = 0;
      }
      this.#busy += 1;
      next?.serve(() => {
        this.#busy -= 1;
        this.#next();
      });
    }
  }
}

/** Serves each customer for the same time. */
export function serveFor(loop: EventLoop, ms: number, onServed: () => void): (done: () => void) => void {
  return (done) =>
    loop.after(ms, () => {
      onServed();
      done();
    });
}
