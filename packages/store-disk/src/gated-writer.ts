import { DiskError } from './errors.ts';
import type { Operations, Writer } from './writer.ts';

/**
 * Gathers the writes of one event. The caller commits them by `flush` before anything leaves that the event has caused,
 * so every answer counts as durable at once, and no call waits.
 */
export class GatedWriter implements Writer {
  readonly position = 0;
  readonly isGated = true;
  readonly #commit: (operations: Operations) => void;
  readonly #onWrite: () => void;
  #operations = new Map<string, Uint8Array | undefined>();
  #failure: DiskError | undefined;

  /**
   * @param commit makes operations durable, all of them or none, or throws
   * @param onWrite called with the first write after a flush
   */
  constructor(commit: (operations: Operations) => void, onWrite: () => void) {
    this.#commit = commit;
    this.#onWrite = onWrite;
  }

  get isWorking(): boolean {
    return this.#failure === undefined;
  }

  isDurable(): true {
    return true;
  }

  assertWorking(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  put(key: string, value: Uint8Array): void {
    this.#add(key, value);
  }

  pending(key: string): Uint8Array | undefined {
    return this.#operations.get(key);
  }

  remove(key: string): void {
    this.#add(key, undefined);
  }

  durable<T>(value: T): T {
    this.assertWorking();
    return value;
  }

  accepted<T>(value: T): T {
    return value;
  }

  beforeFanOut<T>(value: T): T {
    return value;
  }

  /** @throws what the commit throws; then nothing may leave, and nothing can be written any more */
  flush(): void {
    this.assertWorking();
    if (this.#operations.size === 0) return;
    const operations = this.#operations;
    this.#operations = new Map();
    try {
      this.#commit(operations);
    } catch (error) {
      this.#failure = new DiskError('The storage has refused a commit.', { cause: error });
      throw error;
    }
  }

  abandon(): void {
    this.#operations.clear();
    this.#failure ??= new DiskError('The store could not be opened.');
  }

  #add(key: string, value: Uint8Array | undefined): void {
    this.assertWorking();
    if (this.#operations.size === 0) this.#onWrite();
    this.#operations.set(key, value);
  }
}
