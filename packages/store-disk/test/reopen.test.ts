import { createDiskStores, type DiskStores } from '@apus/store-disk';
import { createMemoryStores } from '@apus/store-memory';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { Database } from '../src/database.ts';
import { Kind } from '../src/keys.ts';
import { temporaryDirectory } from './support/directory.ts';
import { NOW_MS } from './support/values.ts';
import { type Step, step, Walk } from './support/walk.ts';

const clock = { now: () => NOW_MS };

async function compare(directory: string, steps: readonly Step[]): Promise<void> {
  let disk: DiskStores = await createDiskStores({ directory, clock });
  const reopen = async () => {
    await disk.close();
    disk = await createDiskStores({ directory, clock });
    onDisk.stores = disk;
    await onDisk.cut(NOW_MS);
    await inMemory.cut(NOW_MS);
  };
  const onDisk = new Walk(disk);
  const inMemory = new Walk(createMemoryStores());
  try {
    for (const each of [...steps, { do: 'reopen' as const }]) {
      if (each.do === 'reopen') await reopen();
      else await Promise.all([onDisk.take(each), inMemory.take(each)]);
    }
    expect(await onDisk.state()).toEqual(await inMemory.state());
    await onDisk.forgetAll();
  } finally {
    await disk.close();
  }
  expect(await keysIn(directory), 'nothing is left of what was forgotten').toEqual([]);
}

async function keysIn(directory: string): Promise<string[]> {
  const database = await Database.open(directory);
  const keys: string[] = [];
  for (const kind of Object.values(Kind)) {
    if (kind !== Kind.Format && kind !== Kind.Owner) for (const [key] of database.scan(kind)) keys.push(key);
  }
  await database.close();
  return keys;
}

it('has the same state after it was closed and opened, after any calls', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80, size: 'max' }), (steps) =>
      compare(temporaryDirectory(), steps),
    ),
    { numRuns: runs(60) },
  );
}, 240_000);
