import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { checkPages } from '../src/page-check.ts';
import { fileOf, filled, overwrite, PAGE_BYTES } from './support/filled.ts';
import { OpenerProcess } from './support/opener-process.ts';

type Damage =
  | { readonly do: 'write'; readonly page: number; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly do: 'copy'; readonly page: number; readonly from: number }
  | { readonly do: 'cut'; readonly length: number };

const named = <D extends string>(name: D) => fc.constant(name);
/** More often one of the first two, from which LMDB finds all others. */
const page = fc.oneof(fc.nat(1), fc.nat(1_000_000));
/** More often within the headers. */
const offset = fc.oneof(fc.nat(79), fc.nat(159), fc.nat(PAGE_BYTES - 1));
const bytes = fc.oneof(
  fc.constantFrom(Uint8Array.of(0), Uint8Array.of(0xff)),
  fc.uint8Array({ minLength: 1, maxLength: 1 }),
  fc.uint8Array({ minLength: 2, maxLength: 600 }),
);
const damage: fc.Arbitrary<Damage> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: named('write'), page, offset, bytes }) },
  { weight: 1, arbitrary: fc.record({ do: named('copy'), page, from: page }) },
  { weight: 1, arbitrary: fc.record({ do: named('cut'), length: fc.nat(100 * PAGE_BYTES) }) },
);

/** A page is one of those that the file has. */
function damaged(file: Buffer, each: Damage): Buffer {
  if (each.do === 'cut') return file.subarray(0, each.length);
  const start = (number: number) => (number % Math.ceil(file.length / PAGE_BYTES)) * PAGE_BYTES;
  const result = Buffer.from(file);
  if (each.do === 'copy')
    file.copy(result, start(each.page), start(each.from), start(each.from) + PAGE_BYTES);
  else Buffer.from(each.bytes).copy(result, start(each.page) + each.offset);
  return result;
}

/** A sentence, and what to do. */
const REFUSAL =
  /^DataDirectoryError: .*\. (?:Restore it, or move it away|Use another directory|It was written by .*)\.$/;

test('no damage ends the process: the file is refused by a sentence that says what to do, or is used', async () => {
  const directory = await filled();
  const whole = readFileSync(fileOf(directory));
  const opener = await OpenerProcess.make();
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      rmSync(`${fileOf(directory)}-lock`, { force: true });
      writeFileSync(fileOf(directory), damages.reduce<Buffer>(damaged, whole));
      const outcome = await opener.use(directory);
      if (outcome !== 'used') expect(outcome).toMatch(REFUSAL);
    }),
    { numRuns: runs(500) },
  );
});

test('a damaged record of the owner is refused as damage, and not as a second process', async () => {
  const directory = await filled();
  const file = readFileSync(fileOf(directory));
  const opener = await OpenerProcess.make();
  // Free pages have older copies of the record.
  const owners = [...file.toString('latin1').matchAll(/o000000000001owner/g)].map(({ index }) => index);
  expect(owners).not.toEqual([]);
  for (const [from, bytes] of [
    [5, '\0\0'],
    [1, 'x'],
    [12, 'z'],
    [3, '~~~~'],
  ] as const) {
    rmSync(`${fileOf(directory)}-lock`, { force: true });
    writeFileSync(
      fileOf(directory),
      owners.reduce<Buffer>(
        (sum, owner) =>
          damaged(sum, { do: 'write', page: 0, offset: owner + from, bytes: Buffer.from(bytes) }),
        file,
      ),
    );
    expect(await opener.use(directory)).toMatch(/is damaged: the record of its owner cannot be read/);
  }
});

describe('the check of pages refuses', () => {
  type Position = (newest: number, root: number) => number;
  const FIELDS: readonly (readonly [name: string, position: Position, bytes: readonly number[]])[] = [
    ['the kind of the first page', () => 18, [0]],
    ['the flags of the first page', () => 53, [0xff]],
    ['the number of the last page', (newest) => newest + 149, [1]],
    ['the size of pages', (newest) => newest + 48, [0, 0x20]],
    ['the flags of the tree with data', (newest) => newest + 100, [4]],
    ['the depth of that tree', (newest) => newest + 102, [0]],
    ['a transaction of the other page', () => 152, [0x7f]],
    ['a transaction far ahead', (newest) => newest + 158, [1]],
    ['the transaction of a page', (_, root) => root + 14, [1]],
    ['the bounds of a page', (_, root) => root + 22, [0xff, 0xff]],
    ['the place of an entry', (_, root) => root + 24, [1, 1]],
  ];

  it.each(FIELDS)('%s', async (_, position, bytes) => {
    const path = fileOf(await filled());
    const file = readFileSync(path);
    const newest = file.readBigUInt64LE(152) > file.readBigUInt64LE(PAGE_BYTES + 152) ? 0 : PAGE_BYTES;
    const root = Number(file.readBigUInt64LE(newest + 136)) * PAGE_BYTES;
    overwrite(path, Buffer.from(bytes), position(newest, root));
    expect(() => checkPages(path)).toThrow(expect.objectContaining({ name: 'PageError' }));
  });
});
