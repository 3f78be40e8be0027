import { describe, expect, test } from 'vitest';
import {
  bridgedNode,
  clientFor,
  collector,
  nodeForTest,
  statusOf,
  untilConnected,
} from './support/bridged.ts';

const UP = { filter: '#', localPrefix: 'up/', remotePrefix: 'plant/', qos: 2 };
const DOWN = { filter: '#', localPrefix: 'down/', remotePrefix: 'orders/', qos: 2 };

/** Two nodes: `here` has the bridge, to `there`. */
async function twoNodes(mappings: object, version: '3.1.1' | '5' = '5') {
  const there = await nodeForTest();
  const here = await bridgedNode({ mqtt: { url: there.url, version }, ...mappings });
  await untilConnected(here);
  return { here, there };
}

describe('messages cross', () => {
  test.each([0, 1, 2] as const)('to the other broker at QoS %i, with their properties', async (qos) => {
    const { here, there } = await twoNodes({ out: [UP] });
    const { packets } = await collector(there.url, 'plant/#');
    const publisher = await clientFor(here.url);
    const properties = {
      contentType: 'text/plain',
      responseTopic: 'answers',
      correlationData: Buffer.from('7'),
      payloadFormatIndicator: true,
      messageExpiryInterval: 100,
      userProperties: { a: ['1', '2'], b: '3' },
    };
    await publisher.publishAsync('up/a/b', 'hot', { qos, properties });
    await expect.poll(() => packets.length).toBe(1);
    expect(packets[0]).toMatchObject({ topic: 'plant/a/b', qos, retain: false });
    expect(packets[0]?.properties).toMatchObject({
      contentType: 'text/plain',
      responseTopic: 'answers',
      payloadFormatIndicator: true,
      userProperties: { a: ['1', '2'], b: '3', 'apus-bridge-hops': '1' },
    });
    expect(packets[0]?.properties?.correlationData?.toString()).toBe('7');
    expect(packets[0]?.properties?.messageExpiryInterval).toBeGreaterThan(90);
  });

  test.each([0, 1, 2] as const)('from the other broker at QoS %i, in order', async (qos) => {
    const { here, there } = await twoNodes({ in: [DOWN] });
    const { packets, texts } = await collector(here.url, 'down/#');
    const publisher = await clientFor(there.url);
    const numbers = Array.from({ length: 300 }, (_, index) => String(index));
    await Promise.all(numbers.map((number) => publisher.publishAsync('orders/x', number, { qos })));
    await expect.poll(() => packets.length).toBe(300);
    expect(texts()).toEqual(numbers);
    expect(packets[0]).toMatchObject({ topic: 'down/x', qos });
    expect((await statusOf(here)).in).toMatchObject({ forwarded: 300, refused: 0 });
  });

  test('at no higher QoS than that of the mapping', async () => {
    const { here, there } = await twoNodes({ out: [{ ...UP, qos: 0 }] });
    const { packets } = await collector(there.url, 'plant/#');
    await (await clientFor(here.url)).publishAsync('up/a', 'hot', { qos: 2 });
    await expect.poll(() => packets.map(({ qos }) => qos)).toEqual([0]);
  });

  test('retained, unless the mapping forbids it', async () => {
    const { here, there } = await twoNodes({
      out: [UP, { ...UP, localPrefix: 'plain/', remotePrefix: 'p2/', retain: false }],
    });
    const publisher = await clientFor(here.url);
    const live = await collector(there.url, 'p2/#');
    await publisher.publishAsync('up/state', 'on', { qos: 1, retain: true });
    await publisher.publishAsync('plain/state', 'on', { qos: 1, retain: true });
    await expect.poll(() => live.packets.map(({ retain }) => retain)).toEqual([false]);
    const late = await collector(there.url, '#');
    await expect.poll(() => late.packets.map(({ topic }) => topic)).toEqual(['plant/state']);
  });

  test('in MQTT 3.1.1, without properties', async () => {
    const { here, there } = await twoNodes({ in: [DOWN], out: [UP] }, '3.1.1');
    const [up, down] = [await collector(there.url, 'plant/#'), await collector(here.url, 'down/#')];
    await (await clientFor(here.url)).publishAsync('up/a', '1', { qos: 2 });
    await (await clientFor(there.url)).publishAsync('orders/a', '2', { qos: 2 });
    await expect.poll(() => [up.texts(), down.texts()]).toEqual([['1'], ['2']]);
    expect(up.packets[0]?.properties?.userProperties).toBeUndefined();
  });
});

describe('messages do not loop', () => {
  const BOTH = { filter: 'chat/#', qos: 1 };

  test('if the same topics cross in both directions', async () => {
    const { here, there } = await twoNodes({ in: [BOTH], out: [BOTH] });
    const [seenHere, seenThere] = [await collector(here.url, '#'), await collector(there.url, '#')];
    await (await clientFor(here.url)).publishAsync('chat/a', 'from here', { qos: 1 });
    await (await clientFor(there.url)).publishAsync('chat/a', 'from there', { qos: 1 });
    const all = ['from here', 'from there'];
    await expect.poll(() => [seenHere.texts().sort(), seenThere.texts().sort()]).toEqual([all, all]);
    // A marker follows them in both directions: a looping message would have come before it.
    await (await clientFor(here.url)).publishAsync('chat/a', 'then', { qos: 1 });
    await expect.poll(() => seenThere.texts().at(-1)).toBe('then');
    expect([seenHere.packets.length, seenThere.packets.length]).toEqual([3, 3]);
  });

  test('more often than hopsMax says', async () => {
    const { here, there } = await twoNodes({ hopsMax: 3, out: [UP] });
    const { texts } = await collector(there.url, '#');
    const publisher = await clientFor(here.url);
    const properties = { userProperties: { 'apus-bridge-hops': '3' } };
    await publisher.publishAsync('up/a', 'too far', { qos: 1, properties });
    await publisher.publishAsync('up/a', 'fresh', { qos: 1 });
    await expect.poll(texts).toEqual(['fresh']);
    expect((await statusOf(here)).out).toMatchObject({ looped: 1, forwarded: 1 });
  });
});

describe('GET /api/v5/bridges', () => {
  test('gives the reason why a bridge is not connected', async () => {
    const there = await nodeForTest();
    const url = there.url;
    await there.stop();
    const here = await bridgedNode({ mqtt: { url }, out: [UP] });
    await expect.poll(async () => (await statusOf(here)).status).toBe('disconnected');
    expect(await statusOf(here)).toMatchObject({
      name: 'test',
      last_error: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('counts the messages that wait for the other broker; they cross when it is back', async () => {
    const first = await nodeForTest();
    const here = await bridgedNode({ mqtt: { url: first.url }, out: [UP] });
    await untilConnected(here);
    await first.stop();
    await expect.poll(async () => (await statusOf(here)).status).toBe('disconnected');
    const publisher = await clientFor(here.url);
    for (let number = 0; number < 150; number += 1)
      await publisher.publishAsync('up/n', String(number), { qos: 1 });
    expect((await statusOf(here)).out).toMatchObject({ waiting: 150, forwarded: 0 });
    const again = await nodeForTest({ port: first.port });
    await expect.poll(async () => (await statusOf(here)).out.forwarded).toBe(150);
    expect((await statusOf(here)).out).toMatchObject({ waiting: 0, inflight: 0 });
    await again.stop();
  });

  test('is empty without bridges', async () => {
    const node = await nodeForTest();
    const response = await fetch(new URL('/api/v5/bridges', node.httpUrl));
    expect(await response.json()).toEqual({ data: [] });
  });
});
