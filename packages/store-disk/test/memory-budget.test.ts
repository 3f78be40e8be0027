import { attachmentOf, messageId, openedOf, openOf, ROOMY, subscriptionTo, upTo } from '@apus/broker/samples';
import { createDiskStores } from '@apus/store-disk';
import { MemoryBudget } from '@apus/store-memory';
import { expect, it } from 'vitest';
import { temporaryDirectory } from './support/directory.ts';
import { deliveryTo, messageOf, NOW_MS } from './support/values.ts';

const clock = { now: () => NOW_MS };
const LARGE = Buffer.alloc(50_000, 'x');

it('restored data counts, is complete under any limit, and is given back', async () => {
  const directory = temporaryDirectory();
  const before = new MemoryBudget();
  const stores = await createDiskStores({ directory, clock, memory: before });
  const ids = ['one', 'other'];
  const sessions = [];
  for (const clientId of ids) {
    const { session } = openedOf(await stores.sessions.open(openOf(clientId)));
    await stores.subscriptions.put(session, [subscriptionTo('a')], 10);
    sessions.push(session);
  }
  const message = messageOf(1, { payload: LARGE, qos: 1 });
  await stores.queues.offer(
    message,
    sessions.map((session) => deliveryTo(session, { qos: 1 })),
    ROOMY,
    new Set(),
  );
  await stores.retained.put('tenant', messageOf(2, { topic: 'kept', payload: LARGE }), upTo(10));
  // The message of two queues is there once, and the retained one.
  expect(before.bytes).toBeGreaterThan(2 * LARGE.length);
  expect(before.bytes).toBeLessThan(3 * LARGE.length);
  await stores.close();

  const after = new MemoryBudget(1000);
  const restored = await createDiskStores({ directory, clock, memory: after });
  expect(after.isFull).toBe(true);
  expect(Math.abs(after.bytes - before.bytes)).toBeLessThan(1000);
  for (const clientId of ids) {
    const attachment = attachmentOf(`${clientId}:2`);
    const { session } = openedOf(await restored.sessions.open(openOf(clientId, { attachment })));
    expect(await restored.subscriptions.list(session)).toHaveLength(1);
    const page = { messages: 10, bytes: Number.POSITIVE_INFINITY };
    const [sent] = await restored.queues.next(session, page, NOW_MS);
    if (sent?.type !== 'publish') throw new Error('the message was promised');
    expect(await restored.queues.complete(session, sent.delivery.packetId, 'puback')).toBe('done');
    expect(await restored.subscriptions.put(session, [subscriptionTo('b')], 10)).toEqual(['over-limit']);
    await restored.subscriptions.clear(session);
  }
  await restored.retained.delete('tenant', 'kept', messageId(9));
  // Two sessions are left.
  expect(after.bytes).toBeLessThan(3000);
  await restored.close();
});
