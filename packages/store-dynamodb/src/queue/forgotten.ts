import type { SessionRef } from '@apus/broker';
import { OWNED, ownedPartition } from '../table/keys.ts';
import { endOf, type Table } from '../table/table.ts';
import type { Action } from '../table/transaction.ts';
import { type Item, number, text, VERSION } from '../table/values.ts';
import { type Forgetting, isInDoubt } from './completed.ts';
import { deflated, inflated } from './record-item.ts';
import type { QueueRecord } from './types.ts';

/**
 * The names of copies that a session's record has forgotten (see `completed.ts`): pages of `l` names, deflated JSON, under
 * the last one of each, and late names under their own. The pages cover the names up to the record's `forgottenTo` without
 * a gap and without overlap, as each is written with the record that forgets, so a name is in one place or in none. They
 * stay for `repeatSecondsMax`.
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

  /** Of the names those that were placed, as far as the record does not say itself whether they were. */
  async among(
    session: SessionRef,
    record: QueueRecord,
    names: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const inDoubt = names.filter((name) => isInDoubt(record, name));
    const found = await Promise.all(inDoubt.map(async (name) => await this.#has(session, name)));
    return new Set(inDoubt.filter((_name, place) => found[place]));
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
