import { FRAME_MS } from './limits.ts';

/** A value that components show. It changes at most once in a frame, and then its listeners are told. */
export class Shown<T> {
  readonly #make: () => T;
  readonly #listeners = new Set<() => void>();
  #value: T;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param make returns the present value; it has to be a new object if something has changed */
  constructor(make: () => T) {
    this.#make = make;
    this.#value = make();
  }

  get value(): T {
    return this.#value;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Marks the value as changed. */
  touch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#value = this.#make();
      for (const listener of [...this.#listeners]) listener();
    }, FRAME_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
