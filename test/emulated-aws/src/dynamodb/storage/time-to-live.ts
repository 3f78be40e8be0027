import type { Clock } from '@apus/emulator/service';
import type { Item } from '../values/attribute-value.ts';

/** DynamoDB does not delete items that expired longer ago: it assumes that the number is not a time in seconds. */
const EXPIRED_SECONDS_MAX = 5 * 365 * 24 * 60 * 60;

/**
 * TTL of one table. It deletes late, or never, and reads ignore it: an expired item exists until it has been deleted.
 */
export class TimeToLive {
  /** The attribute that holds seconds since the epoch; undefined while TTL is off. */
  attributeName: string | undefined;
  readonly #clock: Clock;
  readonly #afterSeconds: number;
  readonly #onDelete: () => void;

  /** @param afterSeconds how late TTL deletes; Infinity: never */
  constructor(clock: Clock, afterSeconds: number, onDelete: () => void) {
    this.#clock = clock;
    this.#afterSeconds = afterSeconds;
    this.#onDelete = onDelete;
  }

  get isOn(): boolean {
    return this.attributeName !== undefined && Number.isFinite(this.#afterSeconds);
  }

  /** Whether this item is due for deletion. */
  takes(item: Item): boolean {
    if (this.attributeName === undefined || !this.isOn) return false;
    // A string or a binary there means an item that does not expire.
    const expiresAt = item[this.attributeName]?.N;
    if (expiresAt === undefined) return false;
    const overdueSeconds = this.#clock.now() / 1_000 - Number(expiresAt);
    const isDue = overdueSeconds > this.#afterSeconds && overdueSeconds < EXPIRED_SECONDS_MAX;
    if (isDue) this.#onDelete();
    return isDue;
  }
}
