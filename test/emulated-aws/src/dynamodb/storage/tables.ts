import { tableInUse, tableNotFound } from '../errors.ts';
import type { Table } from './table.ts';

export class Tables {
  readonly #tables = new Map<string, Table>();

  find(name: string): Table | undefined {
    return this.#tables.get(name);
  }

  /** Throws ResourceNotFoundException. */
  get(name: string): Table {
    const table = this.#tables.get(name);
    if (table === undefined) throw tableNotFound();
    return table;
  }

  /** Throws ResourceInUseException. */
  add(table: Table): void {
    if (this.#tables.has(table.name)) throw tableInUse(table.name);
    this.#tables.set(table.name, table);
  }
}
