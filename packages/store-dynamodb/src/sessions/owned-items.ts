import type { SessionRef } from '@apus/broker';
import { OWNED, ownedPartition } from '../table/keys.ts';
import { endOf, type Table } from '../table/table.ts';
import { type Item, textOf } from '../table/values.ts';

/** Cache lifetime, for the calls that clear one session after the other. */
const FRESH_MS = 1_000;

/**
 * The items that an incarnation owns, for the calls that delete them at its end. The broker clears receipts, queue and
 * subscriptions by calls of their own; all of them are in one partition, which the first call reads for all.
 * Deduplication records of share groups (`queue/deduplication.ts`) are left to TTL, which costs nothing.
 */
export class OwnedItems {
  readonly #now: () => number;
  #partition:
    | { readonly name: string; readonly items: readonly Item[]; readonly readAtMs: number }
    | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Called by each method that adds an item, or has deleted all: the cached items are out of date. */
  forget(): void {
    this.#partition = undefined;
  }

  async all(table: Table, session: SessionRef): Promise<readonly Item[]> {
    const known = this.#partition;
    const name = nameOf(session);
    if (known?.name === name && this.#now() - known.readAtMs < FRESH_MS) return known.items;
    const items = await table.queryAll({
      p: ownedPartition(session),
      from: OWNED.list,
      to: endOf(OWNED.waiting),
    });
    this.#partition = { name, items, readAtMs: this.#now() };
    return items;
  }

  async received(table: Table, session: SessionRef): Promise<Item | undefined> {
    return (await this.all(table, session)).find((item) => textOf(item, 's') === OWNED.received);
  }

  /** The items of waiting messages. */
  async queue(table: Table, session: SessionRef): Promise<Item[]> {
    return (await this.all(table, session)).filter((item) => textOf(item, 's')?.startsWith(OWNED.waiting));
  }
}

function nameOf({ key, incarnation }: SessionRef): string {
  return `${key}\0${incarnation}`;
}
