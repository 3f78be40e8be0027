import { DropMeter } from '@apus/door';
import { expect, test, vi } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { nodeForTest } from './support/nodes.ts';

test('the drops of a session are forgotten when it ends, and stay in the total [SEC-GROWTH-5]', async () => {
  const add = vi.spyOn(DropMeter.prototype, 'add');
  const node = await nodeForTest();
  const { client: publisher } = await RawClient.connect(node.url);
  const kept = { clean: false, properties: { maximumPacketSize: 40, sessionExpiryInterval: 60 } };
  const ended = { properties: { maximumPacketSize: 40 } };
  const readers = await Promise.all(
    [ended, ended, kept].map((fields, index) =>
      RawClient.connect(node.url, { clientId: `reader-${index}`, ...fields }),
    ),
  );
  for (const { client } of readers) {
    client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'a', qos: 0 }] });
    await client.expect('suback');
  }
  publisher.send({
    ...{ cmd: 'publish', topic: 'a', payload: 'x'.repeat(100), qos: 1, dup: false, retain: false },
    messageId: 1,
  });
  await publisher.expect('puback');
  const meter = add.mock.contexts[0] as DropMeter;
  expect(meter.size).toBe(3);
  for (const { client } of readers) client.close();
  await vi.waitFor(() => expect(meter.size).toBe(1));
  expect(meter.total['too-large']).toBe(3);
});
