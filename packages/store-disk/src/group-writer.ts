import { type Awaitable, reasonOf } from '@apus/broker';
import { DiskError } from './errors.ts';
import { BATCH_BYTES_MAX, BATCH_OPERATIONS_MAX, PENDING_BYTES_MAX } from './limits.ts';
import type { Operations, Writer } from './writer.ts';

/** Makes operations durable, all of them or none. */
export type Commit = (operations: Operations) => Promise<void>;

/** An operation counts as so many bytes beside its key and value. */
const OPERATION_BYTES = 64;

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

class Batch {
  /** Ascending. A batch is committed after all earlier ones. */
  readonly number: number;
  readonly operations = new Map<string, Uint8Array | undefined>();
  readonly waiters: Waiter[] = [];
  bytes = 0;

  constructor(number: number) {
    this.number = number;
  }

  get isFull(): boolean {
    return this.operations.size >= BATCH_OPERATIONS_MAX || this.bytes >= BATCH_BYTES_MAX;
  }
}

/**
 * Group commit: while one batch is written to the disk the next one gathers, so a thousand waiting clients share one
 * fsync. Batches are committed in order, and the calls that wait for one are answered in their order.
 */
export class GroupWriter implements Writer {
  readonly isGated = false;
  readonly #commit: Commit;
  readonly #onFailure: (error: DiskError) => void;
  readonly #isShared: boolean;
  /** The first may be under way to the disk; the last one takes new writes. */
  #batches: Batch[] = [];
  #committing: Batch | undefined;
  #pendingBytes = 0;
  #lastNumber = 0;
  #durableNumber = 0;
  #isRunning = false;
  #failure: DiskError | undefined;

  /** @param isShared other processes deliver what is published at this one */
  constructor(commit: Commit, onFailure: (error: DiskError) => void, isShared = false) {
    this.#commit = commit;
    this.#onFailure = onFailure;
    this.#isShared = isShared;
  }

  get position(): number {
    return this.#lastNumber;
  }

  isDurable(position: number): boolean {
    return position <= this.#durableNumber;
  }

  get isWorking(): boolean {
    return this.#failure === undefined;
  }

  assertWorking(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  put(key: string, value: Uint8Array): void {
    this.#add(key, value);
  }

  pending(key: string): Uint8Array | undefined {
    return this.#batches.findLast(({ operations }) => operations.has(key))?.operations.get(key);
  }

  remove(key: string): void {
    this.#add(key, undefined);
  }

  durable<T>(value: T): Awaitable<T> {
    this.assertWorking();
    const batch = this.#batches.at(-1);
    if (batch === undefined) return value;
    return new Promise<T>((resolve, reject) => {
      batch.waiters.push({ resolve: () => resolve(value), reject });
    });
  }

  accepted<T>(value: T): Awaitable<T> {
    return this.#pendingBytes <= PENDING_BYTES_MAX ? value : this.durable(value);
  }

  beforeFanOut<T>(value: T): Awaitable<T> {
    return this.#isShared ? this.durable(value) : this.accepted(value);
  }

  /** Commits the waiting writes, and those of callers that waited for them. After that nothing can be written. */
  async close(): Promise<void> {
    while (this.#failure === undefined && this.#batches.length > 0) {
      await this.durable(undefined);
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#failure ??= new DiskError('The store has been closed.');
  }

  abandon(): void {
    this.#batches = [];
    this.#failure ??= new DiskError('The store could not be opened.');
  }

  #add(key: string, value: Uint8Array | undefined): void {
    this.assertWorking();
    const batch = this.#openBatch();
    const bytes = OPERATION_BYTES + (value?.length ?? 0);
    batch.operations.set(key, value);
    batch.bytes += bytes;
    this.#pendingBytes += bytes;
    if (this.#isRunning) return;
    this.#isRunning = true;
    // Further writes of this turn of the event loop join the batch.
    setImmediate(() => void this.#run());
  }

  /** The last batch, unless it is full or under way. */
  #openBatch(): Batch {
    const last = this.#batches.at(-1);
    const isOpen = last !== undefined && !last.isFull && last !== this.#committing;
    if (isOpen) return last;
    this.#lastNumber += 1;
    const batch = new Batch(this.#lastNumber);
    this.#batches.push(batch);
    return batch;
  }

  async #run(): Promise<void> {
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      this.#committing = batch;
      try {
        await this.#commit(batch.operations);
      } catch (error) {
        this.#fail(error);
        return;
      }
      this.#committed(batch);
    }
    this.#isRunning = false;
  }

  #committed(batch: Batch): void {
    this.#batches.shift();
    this.#committing = undefined;
    this.#pendingBytes -= batch.bytes;
    this.#durableNumber = batch.number;
    for (const waiter of batch.waiters) waiter.resolve();
  }

  /** It is unknown whether the disk has the batch, and another fsync would not tell: only a new start can. */
  #fail(error: unknown): void {
    const failure = error instanceof DiskError ? error : diskErrorOf(error);
    this.#failure = failure;
    const batches = this.#batches;
    this.#batches = [];
    for (const batch of batches) for (const waiter of batch.waiters) waiter.reject(failure);
    this.#onFailure(failure);
  }
}

function diskErrorOf(error: unknown): DiskError {
  return new DiskError(
    `The disk has failed (${reasonOf(error)}). Nothing is acknowledged until the broker is started anew.`,
    { cause: error },
  );
}
