import type { NodeOptions, RunningNode } from '@apus/node';
import { Redis } from 'iovalkey';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { RawClient } from '../support/raw-client.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const connect = (
  node: RunningNode,
  ...options: Parameters<typeof ClusterClient.connect> extends [string, ...infer R] ? R : never
) => ClusterClient.connect(node.url, ...options);
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };

describe('two processes are one broker', needs('engine', program), () => {
  let engine: TestEngine;
  let one: RunningNode;
  let two: RunningNode;

  beforeAll(async () => {
    engine = await startEngine(program);
    [one, two] = [await startMember(engine.url), await startMember(engine.url)];
  });

  afterAll(async () => {
    await one.stop();
    await two.stop();
    await engine.stop();
  });

  it.each([0, 1, 2] as const)('a message at QoS %i reaches a subscriber of the other one', async (qos) => {
    const topic = unique('t');
    const subscriber = await connect(one);
    const publisher = await connect(two);
    await subscriber.client.subscribeAsync(`${topic}/#`, { qos: 2 });
    for (let index = 0; index < 50; index += 1)
      await publisher.client.publishAsync(`${topic}/x`, String(index), { qos });
    expect(await subscriber.got(50)).toEqual(Array.from({ length: 50 }, (_, index) => String(index)));
    expect(subscriber.received.every(({ packet }) => packet.qos === qos)).toBe(true);
  });

  it('subscribers at both get it once each, and one that has gone gets nothing', async () => {
    const topic = unique('t');
    const [here, there] = [await connect(one), await connect(two)];
    await here.client.subscribeAsync(topic);
    await there.client.subscribeAsync(topic);
    await here.client.publishAsync(topic, 'a', { qos: 1 });
    await there.client.unsubscribeAsync(topic);
    await here.client.publishAsync(topic, 'b', { qos: 1 });
    await there.client.subscribeAsync(topic);
    await here.client.publishAsync(topic, 'c', { qos: 1 });
    expect(await here.got(3)).toEqual(['a', 'b', 'c']);
    expect(await there.got(2)).toEqual(['a', 'c']);
  });

  it('a message retained at one is there for a subscriber of the other', async () => {
    const topic = unique('t');
    const publisher = await connect(one);
    await publisher.client.publishAsync(`${topic}/a`, 'kept', { qos: 1, retain: true });
    const subscriber = await connect(two);
    await subscriber.client.subscribeAsync(`${topic}/+`);
    expect(await subscriber.got(1)).toEqual(['kept']);
    expect(subscriber.received[0]?.packet.retain).toBe(true);
  });

  it('a session is resumed at the other process, with its subscriptions and its queued messages', async () => {
    const [topic, clientId] = [unique('t'), unique('c')];
    const before = await connect(one, { clientId, ...KEPT });
    await before.client.subscribeAsync(topic, { qos: 2 });
    await before.client.endAsync();
    const publisher = await connect(two);
    for (const qos of [1, 2] as const) await publisher.client.publishAsync(topic, `at ${qos}`, { qos });
    const after = await connect(two, { clientId, ...KEPT });
    expect(await after.got(2)).toEqual(['at 1', 'at 2']);
    await publisher.client.publishAsync(topic, 'live', { qos: 1 });
    expect(await after.got(3)).toEqual(['at 1', 'at 2', 'live']);
    const large = Buffer.alloc(200_000, 'x').toString();
    for (let index = 0; index < 5; index += 1) await after.client.publishAsync(topic, large, { qos: 1 });
    await after.got(8);
    expect(after.texts.at(-1)).toBe(large);
  });

  it('a client that connects to the other process takes over its session there [MQTT-3.1.4-3]', async () => {
    const clientId = unique('c');
    const first = await connect(one, { clientId });
    const told = new Promise<{ reasonCode?: number }>((resolve) => first.client.once('disconnect', resolve));
    const second = await connect(two, { clientId });
    expect((await told).reasonCode).toBe(0x8e);
    const topic = unique('t');
    await second.client.subscribeAsync(topic);
    await second.client.publishAsync(topic, 'own', { qos: 1 });
    expect(await second.got(1)).toEqual(['own']);
  });

  it('the will of a lost client comes to the other process, wherever the client is connected', async () => {
    const [topic, clientId] = [unique('t'), unique('c')];
    const watcher = await connect(two);
    await watcher.client.subscribeAsync(topic);
    const will = { topic, payload: Buffer.from('gone'), qos: 1 as const, retain: false };
    const kept = await connect(two, { clientId, ...KEPT });
    await kept.client.endAsync();
    // Its session is at the other process.
    const { client } = await RawClient.connect(one.url, {
      clientId,
      clean: false,
      properties: { sessionExpiryInterval: 300 },
      will: { ...will, properties: {} },
    });
    await client.vanish();
    expect(await watcher.got(1)).toEqual(['gone']);
  });

  it.each<[NodeOptions, RegExp]>([
    [{ dataDirectory: '/nowhere' }, /--data/],
    [{ openGateway: async () => Promise.reject(new Error('not reached')) }, /--gateway-port/],
  ])('options that processes do not share are refused at the start: %o', async (options, sentence) => {
    await expect(startMember(engine.url, options)).rejects.toThrow(sentence);
  });

  it('processes that stop at the same time all give up their leases: no later one has to wait', async () => {
    const own = await startEngine(program);
    onTestFinished(() => own.stop());
    const members = [await startMember(own.url), await startMember(own.url), await startMember(own.url)];
    await Promise.all(members.map((member) => member.stop()));
    const engine = new Redis(own.url);
    onTestFinished(() => engine.disconnect());
    const leases = (await engine.zrange('{apus}:members', 0, -1, 'WITHSCORES')).filter(
      (_, index) => index % 2,
    );
    expect(leases).toEqual(leases.map(() => '0'));
  });

  it('a process that is known to be dead is given up at once, and its sessions are taken over', async () => {
    const [topic, clientId] = [unique('t'), unique('c')];
    const dead = await startMember(engine.url);
    const before = await connect(dead, { clientId, ...KEPT });
    await before.client.subscribeAsync(topic, { qos: 1 });
    await before.client.endAsync();
    // The process lives, and would renew its lease.
    await one.cluster?.gone(dead.cluster?.me ?? '');
    expect((await dead.failed).message).toContain('have given this one up');
    const publisher = await connect(two);
    await publisher.client.publishAsync(topic, 'x', { qos: 1 });
    const after = await connect(one, { clientId, ...KEPT });
    expect(await after.got(1)).toEqual(['x']);
  });

  it('a process that starts without an engine says so', async () => {
    await expect(startMember('redis://127.0.0.1:1')).rejects.toThrow(
      /engine at redis:\/\/127.0.0.1:1 cannot be used/,
    );
  });

  it('each message of a share group goes to one member, at either process [MQTT-4.8.2-3]', async () => {
    const topic = unique('t');
    const members = [await connect(one), await connect(two), await connect(two)];
    for (const { client } of members) await client.subscribeAsync(`$share/g/${topic}`, { qos: 1 });
    const publishers = [await connect(one), await connect(two)];
    for (let index = 0; index < 40; index += 1)
      await publishers[index % 2]?.client.publishAsync(topic, String(index), { qos: 1 });
    const all = () => members.flatMap(({ texts }) => texts);
    await expect.poll(() => all().length).toBe(40);
    expect(new Set(all()).size).toBe(40);
    for (const { texts } of members) expect(texts.length).toBeGreaterThan(5);
    // The last member at one process leaves: the others get everything.
    await members[0]?.client.endAsync();
    for (let index = 40; index < 60; index += 1)
      await publishers[0]?.client.publishAsync(topic, String(index), { qos: 1 });
    await expect.poll(() => all().length).toBe(60);
  });
});
