import { readFileSync, statSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { Database } from '../src/database.ts';
import { RESERVE_STEP_BYTES } from '../src/limits.ts';
import { newestMeta } from '../src/page-format.ts';
import { temporaryDirectory } from './support/directory.ts';
import { fileOf } from './support/filled.ts';

const change = fc.record({
  /** Each key of a range: most of the time other keys than before, and sometimes the same. */
  first: fc.nat(3000),
  count: fc.constantFrom(1, 10, 200, 2000),
  bytes: fc.option(fc.constantFrom(10, 600, 1500, 2100, 9000), { nil: undefined }),
});

it('no transaction needs more room than the file has when LMDB begins it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
      const directory = temporaryDirectory();
      const database = await Database.open(directory);
      for (const { first, count, bytes } of changes) {
        const value = bytes === undefined ? undefined : Buffer.alloc(bytes);
        const keys = Array.from({ length: count }, (_, index) => `t${(first + index) * 7919}`);
        await database.commit(new Map(keys.map((key) => [key, value])));
        expect(statSync(fileOf(directory)).size - usedBytes(directory)).toBeGreaterThan(
          RESERVE_STEP_BYTES / 2,
        );
      }
      await database.close();
    }),
    { numRuns: runs(100) },
  );
});

function usedBytes(directory: string): number {
  const file = readFileSync(fileOf(directory));
  const { lastPage, pageBytes } = newestMeta((position, length) =>
    file.subarray(position, position + length),
  );
  return (lastPage + 1) * pageBytes;
}
