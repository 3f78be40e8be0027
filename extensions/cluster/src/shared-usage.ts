import type { UsageJournal } from '@apus/node';
import { ASK_MS_MAX } from './limits.ts';
import type { ValkeyUsage } from './store/index.ts';
import { type Others, tellAll } from './tell-all.ts';

type Row = UsageJournal['unfinished']['rows'][number];

/** The usage of tenants at all processes, in the engine. */
export class SharedUsage implements UsageJournal {
  /** A process begins without rows: its heir adds those of a dead process to the engine's. */
  readonly unfinished = { isWhole: true, rows: [] } as const;
  readonly isShared = true;
  readonly #store: ValkeyUsage;
  readonly #others: Others;

  constructor(store: ValkeyUsage, others: Others) {
    this.#store = store;
    this.#others = others;
  }

  /** The other processes first save what they have counted, if they can in time. */
  async rows(from: string, to: string): Promise<readonly Row[]> {
    await tellAll(this.#others, { type: 'usage' }, ASK_MS_MAX);
    return await this.#store.rows(from, to);
  }

  async save(rows: readonly Row[], isWhole: boolean): Promise<void> {
    await this.#store.save(rows, isWhole);
  }

  async append(rows: readonly Row[]): Promise<void> {
    await this.#store.append(rows);
  }
}
