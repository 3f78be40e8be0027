import { readFileSync, statSync, truncateSync } from 'node:fs';
import { createDiskStores, DataDirectoryError } from '@apus/store-disk';
import { describe, expect, it } from 'vitest';
import { Database } from '../src/database.ts';
import { checkPages } from '../src/page-check.ts';
import { temporaryDirectory } from './support/directory.ts';
import { fileOf, filled, overwrite, PAGE_BYTES, RETAINED } from './support/filled.ts';
import { NOW_MS, openOf, TENANT } from './support/values.ts';

const open = (directory: string) => createDiskStores({ directory, clock: { now: () => NOW_MS } });

async function refusalOf(directory: string): Promise<string> {
  const error: unknown = await open(directory).then(
    (stores) => stores.close(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DataDirectoryError);
  return String(error);
}

async function write(directory: string, key: string, value: Buffer): Promise<void> {
  const database = await Database.open(directory);
  await database.commit(new Map([[key, value]]));
  await database.close();
}

describe('a data file that is cut short', () => {
  it.each([0.5, 0.9])('at %f of its length is refused before it is mapped', async (part) => {
    const directory = await filled();
    const { size } = statSync(fileOf(directory));
    const left = Math.floor((size * part) / PAGE_BYTES) * PAGE_BYTES;
    truncateSync(fileOf(directory), left);
    expect(await refusalOf(directory)).toMatch(
      /apus\.mdb is not a data file of Apus, or is damaged: it ends after/,
    );
    expect(await refusalOf(directory), 'and the directory is free').toContain(`it ends after ${left} bytes`);
  });

  it('in the middle of its second page is refused too', async () => {
    const directory = await filled();
    truncateSync(fileOf(directory), PAGE_BYTES + 10);
    expect(await refusalOf(directory)).toContain('it ends after');
  });

  it('by pages that are not in use is read in full', async () => {
    const directory = await filled();
    const path = fileOf(directory);
    // As if the last transaction had taken ten more pages and given them back: they were never written.
    for (const meta of [0, PAGE_BYTES]) {
      const last = Buffer.alloc(8);
      last.writeBigUInt64LE(readFileSync(path).readBigUInt64LE(meta + 144) + 10n);
      overwrite(path, last, meta + 144);
    }
    const stores = await open(directory);
    expect(stores.retained.count(TENANT)).toBe(RETAINED);
    await stores.close();
  });
});

describe('a data file with a page that is overwritten', () => {
  it('with zeros is refused, whichever page it is that is in use', async () => {
    const directory = await filled();
    const path = fileOf(directory);
    const whole = readFileSync(path);
    let refused = 0;
    for (let position = 2 * PAGE_BYTES; position < whole.length; position += PAGE_BYTES) {
      overwrite(path, Buffer.alloc(PAGE_BYTES), position);
      try {
        checkPages(path);
      } catch (error) {
        refused += 1;
        expect(String(error)).toMatch(/PageError: page \d+ /);
      }
      overwrite(path, whole.subarray(position, position + PAGE_BYTES), position);
    }
    // At least the leaves and the first pages of what is larger than a page.
    expect(refused).toBeGreaterThan(RETAINED / 10);
    checkPages(path);
  });

  it('is refused by a sentence, and free afterwards', async () => {
    const directory = await filled();
    const { size } = statSync(fileOf(directory));
    overwrite(fileOf(directory), Buffer.alloc(size - 4 * PAGE_BYTES), 3 * PAGE_BYTES);
    const sentence =
      /apus\.mdb is not a data file of Apus, or is damaged: page \d+ .*\. Restore it, or move it away\./;
    expect(await refusalOf(directory)).toMatch(sentence);
    expect(await refusalOf(directory)).toMatch(sentence);
  });
});

describe('a record that cannot be read', () => {
  const GARBAGE = [
    ['bytes that mean nothing', Buffer.from([0xc1, 1, 2])],
    ['a number', Buffer.from([7])],
    ['nothing', Buffer.alloc(0)],
    ['zeros', Buffer.alloc(100)],
  ] as const;
  const KEYS = [
    's000000000001',
    'w000000000001',
    `f000000000001${'x'.repeat(22)}`,
    'r0000000000010001',
    'b000000000001',
    'q000000000001000000000002',
    'i000000000001000000000002',
    `t${'x'.repeat(22)}`,
  ];

  it.each(GARBAGE)('%s: the file and the key are named, and the directory is free', async (_, value) => {
    for (const key of KEYS) {
      const directory = temporaryDirectory();
      const stores = await open(directory);
      await stores.sessions.open(openOf('a'));
      await stores.close();
      await write(directory, key, value);
      const sentence = `apus.mdb is damaged: the record ${key} cannot be read (`;
      expect(await refusalOf(directory)).toContain(sentence);
      expect(await refusalOf(directory)).toContain(sentence);
    }
  });
});
