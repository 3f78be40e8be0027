import type { Awaitable, Clock } from '@apus/broker';
import { Refreshed } from '../refreshed.ts';
import { type ApiKey, parseApiKeys } from './api-key.ts';

export interface ApiKeySource {
  /**
   * The key that `look` finds in the list. If it finds none, a remote list is read again.
   *
   * @throws {SourceUnavailable}
   */
  find<T>(look: (keys: readonly ApiKey[]) => T | undefined): Awaitable<T | undefined>;
  /** The same, without reading the list again: for requests that are probably a flood. */
  findKnown<T>(look: (keys: readonly ApiKey[]) => T | undefined): Awaitable<T | undefined>;
}

/** Keys in the configuration. */
export class FixedApiKeys implements ApiKeySource {
  readonly #keys: readonly ApiKey[];

  constructor(keys: readonly ApiKey[]) {
    this.#keys = keys;
  }

  find<T>(look: (keys: readonly ApiKey[]) => T | undefined): T | undefined {
    return look(this.#keys);
  }

  findKnown<T>(look: (keys: readonly ApiKey[]) => T | undefined): T | undefined {
    return look(this.#keys);
  }
}

/** A key that was removed from the list is refused after this time. */
const FRESH_MS = 5 * 60_000;

/** While the list cannot be read its keys stay valid for this time. */
const STALE_MS = 24 * 3_600_000;

/** A key that was added is accepted after this time. */
const AGAIN_MS = 10_000;

/** Keys that are kept elsewhere and may change there. */
export class StoredApiKeys implements ApiKeySource {
  readonly #source: Refreshed<readonly ApiKey[]>;

  constructor(options: {
    /** The name of the source, for errors; never a key. */
    readonly what: string;
    readonly read: () => Promise<string>;
    readonly clock: Clock;
    readonly failed?: ((error: Error) => void) | undefined;
  }) {
    const read = async () => parseApiKeys(await options.read());
    this.#source = new Refreshed({
      ...options,
      read,
      freshMs: FRESH_MS,
      staleMs: STALE_MS,
      againMs: AGAIN_MS,
    });
  }

  async find<T>(look: (keys: readonly ApiKey[]) => T | undefined): Promise<T | undefined> {
    const found = look(await this.#source.current());
    if (found !== undefined || !(await this.#source.again())) return found;
    return look(await this.#source.current());
  }

  async findKnown<T>(look: (keys: readonly ApiKey[]) => T | undefined): Promise<T | undefined> {
    return look(await this.#source.current());
  }
}
