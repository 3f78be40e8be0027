import { type Clock, StreamDeclarations } from '@apus/broker';
import { MemoryBudget } from '@apus/store-memory';
import {
  composeStores,
  type FindLiving,
  GatedWriter,
  type JournalContent,
  type Operations,
} from '../../src/index.ts';

/** The records of an object: what is committed outlives the stores. */
export class MapJournal implements JournalContent {
  readonly records = new Map<string, Uint8Array>();

  commit(operations: Operations): void {
    for (const [key, value] of operations) {
      if (value === undefined) this.records.delete(key);
      else this.records.set(key, value);
    }
  }

  *scan(kind: string, from = kind): Generator<readonly [string, Buffer]> {
    const keys = [...this.records.keys()].filter((key) => key.startsWith(kind) && key >= from);
    for (const key of keys.sort()) yield [key, Buffer.from(this.records.get(key) ?? [])];
  }

  damage(where: string): Error {
    return new Error(`${where} cannot be read`);
  }
}

/** Stores behind a gate; `flush` commits. */
export function gatedStores(
  journal: MapJournal,
  clock: Clock,
  living: FindLiving = () => undefined,
  streams = new StreamDeclarations([]),
  memory = new MemoryBudget(),
) {
  const writer = new GatedWriter(
    (operations) => journal.commit(operations),
    () => {},
  );
  const stores = composeStores({
    ...{ content: journal, writer, clock, living },
    ...{ memory, streams },
    willGraceSeconds: 30,
    written: 'all',
  });
  return { ...stores, flush: () => writer.flush() };
}
