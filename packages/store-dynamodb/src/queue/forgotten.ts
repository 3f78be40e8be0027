import type { SessionRef } from '@apus/broker';
import { OWNED, ownedPartition } from '../table/keys.ts';
import { endOf, type Table } from '../table/table.ts';
import type { Action } from '../table/transaction.ts';
import { type Item, number, text, VERSION } from '../table/values.ts';
import { type Forgetting, mayBeForgotten } from './completed.ts';
import { deflated, inflated } from './record-item.ts';
import type { QueueRecord } from './types.ts';

/**
 * The names of copies that a session's record has forgotten (see `completed.ts`). An item holds a page of them (`l`,
 * deflated JSON) under its last name; a late name has an item of its own. Each page is written with the record that
 * forgets it, so the pages cover all names up to the record's `forgottenTo` without gap or overlap. They are kept for
 * `repeatSecondsMax`.
 */
export class Forgotten {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The items to write with a record that forgets. */
  items(session: SessionRef, { page, late }: Forgetting): Action[] {
    const last = page.at(-1);
    const put = (sort: string, names: readonly string[]): Action => ({
      put: {
        p: text(ownedPartition(session)),
        s: text(sort),
        v: number(VERSION),
        t: number(this.#table.nowSeconds() + this.#table.settings.repeatSecondsMax),
        l: deflated(names),
      },
    });
    const ofPage = last === undefined ? [] : [put(OWNED.copies + last, page)];
    return [...ofPage, ...late.map((name) => put(OWNED.lateCopy + name, [name]))];
  }

  /** Those of the names whose copies were placed and which the record has forgotten. */
  async among(
    session: SessionRef,
    record: QueueRecord,
    names: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const asked = names.filter((name) => mayBeForgotten(record, name));
    const found = await Promise.all(asked.map(async (name) => await this.#has(session, name)));
    return new Set(asked.filter((_name, place) => found[place]));
  }

  async #has(session: SessionRef, name: string): Promise<boolean> {
    const p = ownedPartition(session);
    const range = { p, from: OWNED.copies + name, to: endOf(OWNED.copies), limit: 1 };
    const [late, { items }] = await Promise.all([
      this.#table.get({ p, s: OWNED.lateCopy + name }),
      this.#table.query(range),
    ]);
    return late !== undefined || items.some((item: Item) => inflated<string>(item, 'l').includes(name));
  }
}
