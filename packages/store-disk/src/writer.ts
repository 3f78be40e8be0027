import type { Awaitable } from '@apus/broker';

/** The value for each key; undefined removes the key. */
export type Operations = ReadonlyMap<string, Uint8Array | undefined>;

/** Takes the writes of the stores, and knows which of them are durable. */
export interface Writer {
  /** Stands for everything written so far: see `isDurable`. */
  readonly position: number;
  readonly isWorking: boolean;
  /** Nothing leaves before the writes that came before it are durable. */
  readonly isGated: boolean;
  isDurable(position: number): boolean;
  /** @throws {DiskError} after a failed write, before anything is changed in memory that could not be written */
  assertWorking(): void;
  put(key: string, value: Uint8Array): void;
  /** The value that waits for its commit. Undefined: none does. */
  pending(key: string): Uint8Array | undefined;
  remove(key: string): void;
  /** Returns the value when everything written so far is durable: at once, if it is. */
  durable<T>(value: T): Awaitable<T>;
  /** Returns the value of a call that promises nothing: at once, unless too many bytes wait for the disk. */
  accepted<T>(value: T): Awaitable<T>;
  /**
   * Returns the value of a call that names a message, which is handed on next. Where one process serves all clients,
   * this is `accepted`: the hand-over waits for everything before it. Otherwise it waits [MQTT-4.3.3-10]:
   *
   *     this process                       another
   *     PUBLISH 7 → its receipt names it m
   *     (were m to leave before the receipt is durable …)
   *     m → the other process              delivers m
   *     dies
   *                                        … PUBLISH 7 → named n: delivers it again
   */
  beforeFanOut<T>(value: T): Awaitable<T>;
  /** Drops the waiting writes, and refuses further ones. For a writer whose commits have not begun. */
  abandon(): void;
}
