import { closeSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { upTo } from '@apus/broker/samples';
import { createDiskStores } from '@apus/store-disk';
import { directoryInMemory } from './directory.ts';
import { deliveryTo, messageOf, NOW_MS, openedOf, openOf, ROOMY, TENANT } from './values.ts';

export const PAGE_BYTES = 4096;
export const RETAINED = 60;

/** The data file of a directory. */
export const fileOf = (directory: string): string => join(directory, 'apus.mdb');

/**
 * A data directory with some pages of records, some of them larger than a page, and one of each other kind. Its file
 * ends after the last page that is in use, and has free pages.
 */
export async function filled(): Promise<string> {
  const directory = directoryInMemory();
  const stores = await createDiskStores({ directory, clock: { now: () => NOW_MS } });
  const numbers = Array.from({ length: RETAINED }, (_, index) => index + 1);
  await Promise.all(
    numbers.map((number) => {
      const payload = Buffer.alloc(number % 10 === 0 ? 3 * PAGE_BYTES : 500, number);
      return stores.retained.put(TENANT, messageOf(number, { topic: `a/${number}`, payload }), upTo(1000));
    }),
  );
  const { session } = openedOf(await stores.sessions.open(openOf('a')));
  await stores.queues.offer(messageOf(100), [deliveryTo(session)], ROOMY);
  await stores.close();
  truncateSync(fileOf(directory), usedBytes(readFileSync(fileOf(directory))));
  return directory;
}

/** Without the room for the next transaction. */
function usedBytes(file: Buffer): number {
  const lastPages = [0, PAGE_BYTES].map((meta) => Number(file.readBigUInt64LE(meta + 144)));
  return (Math.max(...lastPages) + 1) * PAGE_BYTES;
}

export function overwrite(path: string, bytes: Uint8Array, position: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}
