import type { StreamStore } from '../../src/index.ts';

/**
 * A stream store whose answers to readers come when the test lets them come. Each is as the store was at the question,
 * without later messages.
 */
export class HeldReads {
  readonly store: StreamStore;
  readonly #held: (() => void)[] = [];

  /** @param held calls whose answers wait @default those of readers */
  constructor(store: StreamStore, held: readonly (keyof StreamStore)[] = ['read', 'tail']) {
    this.store = new Proxy(store, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        const isHeld = (held as readonly unknown[]).includes(name);
        return (...args: unknown[]): unknown => {
          const answer: unknown = method.apply(target, args);
          return isHeld ? this.#hold(answer) : answer;
        };
      },
    });
  }

  get isWaiting(): boolean {
    return this.#held.length > 0;
  }

  /** An answer comes, and the flow that waits for it runs until it waits again. @default the oldest one */
  async answer(at = 0): Promise<void> {
    this.#held.splice(at, 1)[0]?.();
    await flowsRun();
  }

  #hold(answer: unknown): Promise<unknown> {
    return new Promise((resolve) => this.#held.push(() => resolve(answer)));
  }
}

/** Lets everything run that waits for no answer. */
export async function flowsRun(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
