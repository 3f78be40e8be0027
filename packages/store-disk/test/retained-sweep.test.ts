import { upTo } from '@apus/broker/samples';
import { createDiskStores } from '@apus/store-disk';
import { expect, it } from 'vitest';
import { Database } from '../src/database.ts';
import { Kind } from '../src/keys.ts';
import { temporaryDirectory } from './support/directory.ts';
import { messageOf, NOW_MS, TENANT } from './support/values.ts';

const TOPICS = 50;

it('expired retained messages leave the disk while others come', async () => {
  const directory = temporaryDirectory();
  const clock = { nowMs: NOW_MS, now: () => clock.nowMs };
  const stores = await createDiskStores({ directory, clock });
  let number = 0;
  const put = async (topic: string, expiresAtMs: number | undefined) => {
    number += 1;
    await stores.retained.put(TENANT, messageOf(number, { topic, expiresAtMs }), upTo(10_000));
  };
  for (let index = 0; index < TOPICS; index += 1) await put(`expires/${index}`, NOW_MS + 1);
  await put('stays', undefined);
  // This one has expired on the disk, and been replaced in memory, when the walk comes by.
  await put('expires/0', NOW_MS + 1_000_000);
  clock.nowMs += 1;
  for (let index = 0; index < 2 * TOPICS; index += 1) await put('comes', NOW_MS + 1_000_000);
  await stores.close();

  const database = await Database.open(directory);
  expect([...database.scan(Kind.Retained)]).toHaveLength(['stays', 'expires/0', 'comes'].length);
  await database.close();
});
