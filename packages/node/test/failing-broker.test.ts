import { expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import type { LogEntry } from '../src/index.ts';
import { nodeForTest } from './support/nodes.ts';

const authorizer = {
  mayPublish(_identity: unknown, _clientId: string, topic: string) {
    if (topic === 'throw') throw new Error('a bug');
    if (topic === 'reject') return Promise.reject(new Error('no database'));
    return true;
  },
  maySubscribe: () => true,
};

test.each(['throw', 'reject'])('an exception (%s) ends its own connection and no other', async (topic) => {
  const entries: LogEntry[] = [];
  const node = await nodeForTest({ authorizer, logLevel: 'error', logSink: (entry) => entries.push(entry) });
  const { client } = await RawClient.connect(node.url);
  const { client: other } = await RawClient.connect(node.url);
  client.send({ cmd: 'publish', topic, payload: 'x', qos: 0 });
  client.send({ cmd: 'pingreq' });
  expect((await client.expect('disconnect')).reasonCode).toBe(0x80);
  expect(await client.expectClose()).toBe(1011);
  await other.expectNothing();
  expect(entries).toMatchObject([{ event: 'link-failed', fields: { connectionId: expect.any(String) } }]);
});

test('MQTT 3.1.1 sees only the close', async () => {
  const node = await nodeForTest({ authorizer });
  const { client } = await RawClient.connect(node.url, { protocolVersion: 4 });
  client.send({ cmd: 'publish', topic: 'throw', payload: 'x', qos: 0 });
  await expect(client.next()).rejects.toThrow('closed with 1011');
});
