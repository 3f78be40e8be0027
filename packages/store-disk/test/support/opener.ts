import { upTo } from '@apus/broker/samples';
import { createDiskStores } from '@apus/store-disk';
import { Database } from '../../src/database.ts';
import type { Kind } from '../../src/keys.ts';
import { deliveryTo, messageOf, NOW_MS, openedOf, openOf, ROOMY, TENANT } from './values.ts';

const RECORDS = 60;
const KINDS = 'abcdefghijklmnopqrstuvwxyz';
const REMOVED_AT_A_TIME = 20;

/** Reads all of a data directory, writes over most of it, and removes everything: LMDB splits and joins its pages. */
async function use(directory: string): Promise<void> {
  const stores = await createDiskStores({ directory, clock: { now: () => NOW_MS } });
  const numbers = Array.from({ length: RECORDS }, (_, index) => index + 1);
  for (const length of [10, 9000, 300]) {
    const messages = numbers.map((number) =>
      messageOf(number, { topic: `a/${number}`, payload: Buffer.alloc(length, number) }),
    );
    await Promise.all(messages.map((message) => stores.retained.put(TENANT, message, upTo(1000))));
  }
  const { session } = openedOf(await stores.sessions.open(openOf('another')));
  for (const number of numbers)
    await stores.queues.offer(messageOf(100 + number), [deliveryTo(session)], ROOMY);
  await stores.close();
  await clear(directory);
}

async function clear(directory: string): Promise<void> {
  const database = await Database.open(directory);
  const keys = Array.from(KINDS).flatMap((kind) => [...database.scan(kind as Kind)].map(([key]) => key));
  for (let index = 0; index < keys.length; index += REMOVED_AT_A_TIME) {
    const removed = keys.slice(index, index + REMOVED_AT_A_TIME);
    await database.commit(new Map(removed.map((key) => [key, undefined])));
  }
  await database.close();
}

/** A program for `OpenerProcess`: uses each directory that it is told, and says how that ended. */
process.on('message', (directory: string) => {
  void use(directory).then(
    () => process.send?.('used'),
    (error: unknown) => process.send?.(String(error)),
  );
});
