import type { Authorizer, Message } from '@apus/broker';
import mqtt from 'mqtt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nodeForTest } from './support/nodes.ts';

interface Seen {
  readonly topic: string;
  readonly isAnswered: boolean;
}

/** A node from which `out/#` leaves for another system, which takes the messages that `takes` selects. */
async function nodeWithOutlet(takes: (message: Message) => boolean, authorizer?: Authorizer) {
  const seen: Seen[] = [];
  const take = async (message: Message) => takes(message);
  const node = await nodeForTest({
    authorizer,
    openBridges: async () => ({
      list: () => [],
      stop: async () => {},
      outlet: {
        take(_tenant, message, isAnswered) {
          if (!message.topic.startsWith('out/')) return undefined;
          seen.push({ topic: message.topic, isAnswered });
          return isAnswered ? take(message) : true;
        },
      },
    }),
  });
  const client = await mqtt.connectAsync(node.url, { protocolVersion: 5 });
  onTestFinished(async () => await client.endAsync(true));
  const arrived: string[] = [];
  client.on('message', (topic, payload) => arrived.push(`${topic} ${payload}`));
  await client.subscribeAsync('#', { qos: 1 });
  return { node, client, seen, arrived };
}

describe('a message that leaves for another system', () => {
  test('is answered and delivered when the other system has it; other messages do not wait', async () => {
    const { client, seen, arrived } = await nodeWithOutlet(() => true);
    await client.publishAsync('out/a', '1', { qos: 2 });
    await client.publishAsync('in/a', '2', { qos: 1 });
    await expect.poll(() => arrived).toEqual(['out/a 1', 'in/a 2']);
    expect(seen).toEqual([{ topic: 'out/a', isAnswered: true }]);
  });

  test.each([1, 2] as const)(
    'is refused with 0x97 at QoS %i where the other system does not take it, and reaches no subscriber',
    async (qos) => {
      const { client, arrived } = await nodeWithOutlet(
        ({ payload }) => Buffer.from(payload).toString() !== 'no',
      );
      await expect(client.publishAsync('out/a', 'no', { qos })).rejects.toMatchObject({ code: 0x97 });
      await client.publishAsync('out/a', 'yes', { qos });
      await expect.poll(() => arrived).toEqual(['out/a yes']);
    },
  );

  test('closes the connection of an MQTT 3.1.1 client, which sends it again', async () => {
    let refusals = 0;
    const { node, arrived } = await nodeWithOutlet(() => {
      refusals += 1;
      return refusals > 1;
    });
    const old = await mqtt.connectAsync(node.url, {
      protocolVersion: 4,
      clean: false,
      clientId: 'old',
      reconnectPeriod: 10,
    });
    onTestFinished(async () => await old.endAsync(true));
    await old.publishAsync('out/a', 'again', { qos: 1 });
    await expect.poll(() => arrived).toEqual(['out/a again']);
    expect(refusals).toBe(2);
  });

  test('is one that its publisher may send: for a rule and a bridge, as for a subscriber [SEC-WAY-4]', async () => {
    const { client, seen, arrived } = await nodeWithOutlet(() => true, {
      mayPublish: (_identity, _clientId, topic) => topic !== 'out/forbidden',
      maySubscribe: () => true,
    });
    await expect(client.publishAsync('out/forbidden', '1', { qos: 1 })).rejects.toMatchObject({ code: 0x87 });
    await client.publishAsync('out/allowed', '2', { qos: 1 });
    await expect.poll(() => arrived).toEqual(['out/allowed 2']);
    expect(seen).toEqual([{ topic: 'out/allowed', isAnswered: true }]);
  });

  test('at QoS 0 waits for nothing', async () => {
    const { client, seen, arrived } = await nodeWithOutlet(() => false);
    await client.publishAsync('out/a', '1', { qos: 0 });
    await expect.poll(() => arrived).toEqual(['out/a 1']);
    expect(seen).toEqual([{ topic: 'out/a', isAnswered: false }]);
  });

  test('over HTTP is refused as in MQTT', async () => {
    const { node } = await nodeWithOutlet(() => false);
    const response = await fetch(new URL('/api/v5/publish', node.httpUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ topic: 'out/a', payload: 'x', qos: 1 }),
    });
    expect(response.ok).toBe(false);
    expect(await response.json()).toMatchObject({ message: expect.stringContaining('try again later') });
  });
});
