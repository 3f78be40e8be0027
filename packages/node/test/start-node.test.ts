import mqtt from 'mqtt';
import { afterEach, expect, test } from 'vitest';
import { type RunningNode, startNode } from '../src/index.ts';

let node: RunningNode | undefined;
afterEach(() => node?.stop());

test('two clients of stock mqtt.js talk through a node', async () => {
  node = await startNode({ port: 0 });
  const subscriber = await mqtt.connectAsync(node.url, { protocolVersion: 5 });
  await subscriber.subscribeAsync('hello/+', { qos: 1 });
  const received = new Promise<string>((resolve) => {
    subscriber.on('message', (topic, payload) => resolve(`${topic}: ${payload}`));
  });
  const publisher = await mqtt.connectAsync(node.url, { protocolVersion: 4 });
  await publisher.publishAsync('hello/world', 'hi', { qos: 1 });
  expect(await received).toBe('hello/world: hi');
  await publisher.endAsync();
  await subscriber.endAsync();
});
