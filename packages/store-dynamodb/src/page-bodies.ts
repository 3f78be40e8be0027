import type { PageLimit } from '@apus/broker';
import { Found } from './batch.ts';
import type { Bodies } from './bodies.ts';
import { bodyRefOf, sizeOfEntry } from './queue-items.ts';
import type { Item } from './values.ts';

/** The bodies of a page: those that will probably be on it are read in one call, another when it turns out to be. */
export class PageBodies {
  readonly #bodies: Bodies;
  readonly #tenant: string;
  readonly #limit: PageLimit;
  #found = new Found();

  constructor(bodies: Bodies, tenant: string, limit: PageLimit) {
    this.#bodies = bodies;
    this.#tenant = tenant;
    this.#limit = limit;
  }

  /** As many of them as one page holds. Thirty messages of 2 MiB are not read for a page of 24 KB. */
  async readAhead(items: readonly Item[]): Promise<void> {
    let bytes = 0;
    const refs = items.slice(0, this.#limit.messages).flatMap((item, index) => {
      bytes += sizeOfEntry(item);
      const ref = index === 0 || bytes <= this.#limit.bytes ? bodyRefOf(item) : undefined;
      return ref ?? [];
    });
    this.#found = await this.#bodies.load(this.#tenant, refs);
  }

  /** Undefined where the message is in the item itself, or its body is gone. */
  async of(item: Item): Promise<Uint8Array | undefined> {
    const ref = bodyRefOf(item);
    if (ref === undefined) return undefined;
    const known = this.#bodies.join(this.#tenant, ref, this.#found);
    if (known !== undefined) return known;
    return this.#bodies.join(this.#tenant, ref, await this.#bodies.load(this.#tenant, [ref]));
  }
}
