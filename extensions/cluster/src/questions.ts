import type { ApiAnswer, PeerRequest, Scheduler } from '@apus/node';
import type { Bus } from './bus.ts';
import type { Frame } from './frames.ts';
import { ASK_MS_MAX, ASKED_MAX } from './limits.ts';

type Resolve = (answer: ApiAnswer | undefined) => void;

/** Questions of the HTTP API to other processes. A slow process delays its own answer only, and none waits for long. */
export class Questions {
  readonly #bus: Bus;
  readonly #clock: Scheduler;
  readonly #waiting = new Map<number, Resolve>();
  #lastId = 0;

  constructor(bus: Bus, clock: Scheduler) {
    this.#bus = bus;
    this.#clock = clock;
  }

  /** Undefined: the process has not answered in time, or too many questions wait. */
  ask(process: string, request: PeerRequest): Promise<ApiAnswer | undefined> {
    if (this.#waiting.size >= ASKED_MAX) return Promise.resolve(undefined);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ASK_MS_MAX, () => this.answered(id, undefined));
      this.#waiting.set(id, (answer) => {
        cancel();
        resolve(answer);
      });
      this.#bus.send(process, { type: 'ask', id, request });
    });
  }

  /** Ignores an answer that comes too late. */
  answered(id: number, answer: ApiAnswer | undefined): void {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(answer);
  }

  /** Answers a question of another process. */
  async answer(
    from: string,
    { id, request }: Extract<Frame, { type: 'ask' }>,
    answer: (request: PeerRequest) => Promise<ApiAnswer>,
  ): Promise<void> {
    this.#bus.send(from, { type: 'answer', id, answer: await answer(request) });
  }
}
