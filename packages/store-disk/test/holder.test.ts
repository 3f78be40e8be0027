import { messageId, messageOf, NOW_MS, upTo } from '@apus/broker/samples';
import { createDiskStores, type DiskStores } from '@apus/store-disk';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from './support/directory.ts';

it('counts for its holder what a restart has found on the disk [SEC-QUOTA-8]', async () => {
  const directory = temporaryDirectory();
  const open = async () => await createDiskStores({ directory, clock: { now: () => NOW_MS } });
  const holder = { tenant: 't', kind: 'identity', name: 'ada' } as const;
  const put = async ({ retained }: DiskStores, topic: string, id: number) =>
    await retained.put('t', messageOf({ topic, id: messageId(id), retain: true }), {
      ...upTo(100),
      holder: { holder, messagesMax: 2, bytesMax: Number.POSITIVE_INFINITY },
    });
  const before = await open();
  expect(await put(before, 'a', 1)).toBe(true);
  expect(await put(before, 'b', 2)).toBe(true);
  await before.close();
  const after = await open();
  onTestFinished(() => after.close());
  expect(await put(after, 'c', 3)).toBe(false);
  await after.retained.delete('t', 'a', messageId(4));
  expect(await put(after, 'c', 5)).toBe(true);
});
