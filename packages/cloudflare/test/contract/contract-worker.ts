import { presenceStoreContract, storesContract, streamStoreContract } from '@apus/broker/contract';
import { NOW_MS } from '@apus/broker/samples';
import { composeStores, GatedWriter } from '@apus/store-disk';
import { MemoryBudget } from '@apus/store-memory';
import type { ObjectState } from '../../src/index.ts';
import { Records } from '../../src/storage/records.ts';
import { cases } from './vitest-in-workerd.ts';

interface Environment {
  readonly HUB: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

/** Stores as a hub has them. */
function storesOver({ storage }: ObjectState) {
  const records = new Records(storage);
  // As a hub does: at the end of the present work.
  const writer: GatedWriter = new GatedWriter(
    (operations) => records.commit(operations),
    () => void Promise.resolve().then(() => writer.flush()),
  );
  const composed = composeStores({
    ...{ content: records, writer, clock: { now: () => NOW_MS }, memory: new MemoryBudget() },
    ...{ willGraceSeconds: 30, written: 'all' as const },
  });
  return composed;
}

/** Runs the contract suites over the SQLite of an object. */
export class TestHub {
  readonly #state: ObjectState;

  constructor(state: ObjectState) {
    this.#state = state;
  }

  async fetch(): Promise<Response> {
    const composed = storesOver(this.#state);
    storesContract('in an object', () => composed);
    presenceStoreContract('in an object', async () => ({ ...composed, presence: composed.presenceStore }));
    streamStoreContract('in an object', async () => storesOver(this.#state).streamStore);
    const failed: string[] = [];
    for (const { title, run } of cases) {
      try {
        await run();
      } catch (error) {
        failed.push(`${title}: ${(error as Error)?.message ?? error}`);
      }
    }
    // Everything that they have written can be read.
    storesOver(this.#state);
    const rows = this.#state.storage.sql.exec('SELECT count(*) AS n FROM kv').toArray()[0]?.n;
    return new Response(JSON.stringify({ cases: cases.length, failed, rows }));
  }
}

// biome-ignore lint/style/noDefaultExport: the runtime asks for it
export default {
  fetch: (request: Request, { HUB }: Environment) => HUB.get(HUB.idFromName('hub')).fetch(request),
};
