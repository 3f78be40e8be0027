import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CloudWorld, startCloud } from './start-cloud.ts';

// All of a deployment is of this process: on a busy machine its tests take many seconds.
vi.setConfig({ testTimeout: 120_000 });

/** More subscribers than a filter's head item holds: workers reach the others. */
const SUBSCRIBERS = 30;

let world: CloudWorld;
const clients: mqtt.MqttClient[] = [];

beforeEach(async () => {
  world = await startCloud({ seed: 7 });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
  await world.emulator.quiet();
  await world.stop();
  expect(world.failures).toEqual([]);
  expect(world.deadLetters()).toBe(0);
});

async function connect(options: mqtt.IClientOptions = {}): Promise<mqtt.MqttClient> {
  const client = connectInTextFrames(mqtt, world.url, { protocolVersion: 5, reconnectPeriod: 0, ...options });
  clients.push(client);
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve());
    client.once('error', reject);
  });
  return client;
}

/**
 * Resolves with the payloads when this many have come. Ignores repetitions at QoS 1, which have DUP: on a busy machine
 * a function can exceed its timeout, and its work is repeated, as in the cloud.
 */
function payloads(client: mqtt.MqttClient, count: number): Promise<string[]> {
  const received: string[] = [];
  return new Promise((resolve) => {
    client.on('message', (_topic, payload, { dup }) => {
      if (dup && received.includes(payload.toString())) return;
      received.push(payload.toString());
      if (received.length === count) resolve(received);
    });
  });
}

describe('every function of a deployment, behind emulators of every service', () => {
  it('a wide filter is served through SQS, in order, to every subscriber', async () => {
    const subscribers = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => connect()));
    const receiving = subscribers.map((each) => payloads(each, 20));
    for (const each of subscribers) await each.subscribeAsync('news/#', { qos: 1 });
    const publisher = await connect();
    const sent = Array.from({ length: 20 }, (_, index) => String(index));
    await Promise.all(sent.map((each) => publisher.publishAsync('news/today', each, { qos: 1 })));
    for (const received of await Promise.all(receiving)) expect(received).toEqual(sent);
    const { sqs } = world.emulator.counters.snapshot();
    expect(sqs.billed.fifo).toBeGreaterThan(0);
  });

  it('the queue of a persistent session contains the messages that workers could not deliver', async () => {
    const others = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => connect()));
    for (const each of others) await each.subscribeAsync('news', { qos: 1 });
    const session = { clientId: 'returns', clean: false, properties: { sessionExpiryInterval: 3_600 } };
    const absent = await connect(session);
    await absent.subscribeAsync('news', { qos: 1 });
    await absent.endAsync();
    const publisher = await connect();
    const seen = payloads(others[SUBSCRIBERS - 1] as mqtt.MqttClient, 1);
    await publisher.publishAsync('news', 'while away', { qos: 1 });
    await seen;
    await world.emulator.quiet();
    const returned = connectInTextFrames(mqtt, world.url, { protocolVersion: 5, ...session });
    clients.push(returned);
    expect(await payloads(returned, 1)).toEqual(['while away']);
  });

  it('QoS 2, retained messages and shared subscriptions go through the same stores', async () => {
    const first = await connect();
    const second = await connect();
    const received: string[] = [];
    for (const each of [first, second]) {
      each.on('message', (_topic, payload) => received.push(payload.toString()));
      await each.subscribeAsync('$share/g/jobs', { qos: 1 });
    }
    const publisher = await connect();
    for (const job of ['a', 'b', 'c', 'd']) await publisher.publishAsync('jobs', job, { qos: 2 });
    await world.emulator.quiet();
    expect(received.sort()).toEqual(['a', 'b', 'c', 'd']);
    await publisher.publishAsync('state', 'kept', { qos: 1, retain: true });
    const late = await connect();
    const retained = payloads(late, 1);
    await late.subscribeAsync('state', { qos: 1 });
    expect(await retained).toEqual(['kept']);
  });

  it('the will of a client that vanishes comes by the timer queue', async () => {
    const watcher = await connect();
    await watcher.subscribeAsync('gone', { qos: 1 });
    const will = payloads(watcher, 1);
    const mortal = await connect({
      will: { topic: 'gone', payload: Buffer.from('farewell'), qos: 1, retain: false },
    });
    mortal.stream.destroy();
    expect(await will).toEqual(['farewell']);
  });
});
