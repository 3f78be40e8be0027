import type { Clock } from '@apus/emulator/service';
import type { Key } from './key-schema.ts';
import type { Stored } from './partition.ts';

/** How long a replica may lag: eventually consistent reads are "usually consistent within one second". */
const LAG_MS_MAX = 1_000;

export interface LastVersion {
  readonly key: Key;
  /** The item before the last write; undefined: none. */
  readonly stored: Stored | undefined;
  readonly replacedAtMs: number;
}

/** The items of a table before the last write of each key, for as long as a replica may still show them. */
export class LastVersions {
  readonly #clock: Clock;
  /** By partition key and sort key; the one replaced longest ago comes first. */
  readonly #versions = new Map<string, LastVersion>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  remember(key: Key, stored: Stored | undefined): void {
    const name = JSON.stringify(key.attributes);
    this.#versions.delete(name);
    this.#versions.set(name, { key, stored, replacedAtMs: this.#clock.now() });
    this.#forget();
  }

  get(key: Key): LastVersion | undefined {
    this.#forget();
    return this.#versions.get(JSON.stringify(key.attributes));
  }

  all(): readonly LastVersion[] {
    this.#forget();
    return [...this.#versions.values()];
  }

  #forget(): void {
    const oldestMs = this.#clock.now() - LAG_MS_MAX;
    for (const [name, { replacedAtMs }] of this.#versions) {
      if (replacedAtMs >= oldestMs) return;
      this.#versions.delete(name);
    }
  }
}
