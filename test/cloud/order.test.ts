import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Backend, backendOf } from './backend.ts';
import { type CloudWorld, startCloud } from './start-cloud.ts';

// All of a deployment is of this process: on a busy machine its tests take many seconds.
vi.setConfig({ testTimeout: 120_000 });

/** A page of small messages, then a large one that does not fit behind it into a reply of 98,286 bytes, and so on. */
const SIZES_BYTES = [9_000, 9_000, 90_000, 20, 9_000, 98_000, 90_000, 9_000, 20, 20, 95_000, 9_000];
const MESSAGES = SIZES_BYTES.map((bytes, index) => `${index} `.padEnd(bytes, '.'));
const ORDER = MESSAGES.map((_, index) => index);

let world: CloudWorld;
let backend: Backend;
const clients: mqtt.MqttClient[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
  await world.emulator.quiet();
  expect(world.failures).toEqual([]);
});
/** A client with a persistent session, whose window is smaller than the number of waiting messages. */
function open(clientId: string): mqtt.MqttClient {
  const client = connectInTextFrames(mqtt, world.url, {
    protocolVersion: 5,
    reconnectPeriod: 0,
    clientId,
    clean: false,
    properties: { sessionExpiryInterval: 3_600, receiveMaximum: 3 },
  });
  clients.push(client);
  return client;
}

/**
 * The numbers of the messages in the order in which the application is given them. A repetition at QoS 1 is left out by
 * its DUP flag: on a busy machine a function can exceed its timeout, and its work is repeated, as in the cloud.
 */
function numbers(client: mqtt.MqttClient): Promise<number[]> {
  const received: number[] = [];
  return new Promise((resolve) => {
    client.on('message', (_topic, payload, { dup }) => {
      const number = Number.parseInt(payload.toString(), 10);
      if (dup && received.includes(number)) return;
      received.push(number);
      if (received.length === MESSAGES.length) resolve(received);
    });
  });
}

/** Published one after another, or all of them in one call, whose posts are gathered. */
async function publish(topic: string, qos: 1 | 2, isGathered: boolean): Promise<void> {
  const bodies = MESSAGES.map((payload) => ({ topic, payload, qos }));
  if (isGathered) expect((await backend('/api/v5/publish/bulk', bodies)).status).toBe(200);
  else for (const body of bodies) expect((await backend('/api/v5/publish', body)).status).toBe(200);
}

const WAYS = [1, 2].flatMap((qos) =>
  [false, true].map((isGathered) => ({ qos: qos as 1 | 2, isGathered, name: `${qos} ${isGathered}` })),
);

describe('large and small messages of one topic [MQTT-4.6.0-5] [MQTT-4.6.0-6]', () => {
  beforeAll(async () => {
    world = await startCloud({ seed: 23 });
    backend = backendOf(world);
  });
  afterAll(() => world.stop());

  it.each(WAYS)('for a client that is away, at QoS $qos, gathered: $isGathered', async ({ name, ...way }) => {
    const topic = `away ${name}`;
    const reader = open(topic);
    await reader.subscribeAsync(topic, { qos: way.qos });
    await reader.endAsync();
    await world.emulator.quiet();
    await publish(topic, way.qos, way.isGathered);
    expect(await numbers(open(topic))).toEqual(ORDER);
  });

  it.each(WAYS)(
    'for a client that publishes, at QoS $qos, gathered: $isGathered',
    async ({ name, ...way }) => {
      const topic = `publishes ${name}`;
      const reader = open(topic);
      await reader.subscribeAsync(topic, { qos: way.qos });
      const received = numbers(reader);
      // Its acknowledgements leave in frames that want a reply, and the reply brings the waiting messages.
      reader.on('message', () => reader.publish('answers', 'x', { qos: 1 }));
      await publish(topic, way.qos, way.isGathered);
      expect(await received).toEqual(ORDER);
    },
  );

  it.each(WAYS)('for a client that listens, at QoS $qos, gathered: $isGathered', async ({ name, ...way }) => {
    const topic = `listens ${name}`;
    const reader = open(topic);
    await reader.subscribeAsync(topic, { qos: way.qos });
    const received = numbers(reader);
    await publish(topic, way.qos, way.isGathered);
    expect(await received).toEqual(ORDER);
  });
});
