import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Backend, backendOf } from './backend.ts';
import { type CloudWorld, startCloud } from './start-cloud.ts';

// All of a deployment is of this process: on a busy machine its tests take many seconds.
vi.setConfig({ testTimeout: 120_000 });

let world: CloudWorld;
let post: Backend;
const clients: mqtt.MqttClient[] = [];

beforeEach(async () => {
  world = await startCloud({ seed: 11, shapes: ['.+'] });
  post = backendOf(world);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
  await world.emulator.quiet();
  await world.stop();
  expect(world.failures).toEqual([]);
});

async function subscriber(filter: string, options: mqtt.IClientOptions = {}): Promise<mqtt.MqttClient> {
  const client = connectInTextFrames(mqtt, world.url, { protocolVersion: 5, reconnectPeriod: 0, ...options });
  clients.push(client);
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve());
    client.once('error', reject);
  });
  await client.subscribeAsync(filter, { qos: 2 });
  return client;
}

function packets(client: mqtt.MqttClient, count: number): Promise<mqtt.IPublishPacket[]> {
  const received: mqtt.IPublishPacket[] = [];
  return new Promise((resolve) => {
    client.on('message', (_topic, payload, packet) => {
      // Ignores repetitions at QoS 1: on a busy machine a function can exceed its timeout, as in the cloud.
      if (packet.dup && received.some((each) => payload.equals(Buffer.from(each.payload)))) return;
      received.push(packet);
      if (received.length === count) resolve(received);
    });
  });
}

describe('a message that a backend publishes over HTTP', () => {
  it('reaches stock mqtt.js with all its properties', async () => {
    const received = packets(await subscriber('orders/+'), 1);
    const answer = await post('/api/v5/publish', {
      topic: 'orders/7',
      payload: Buffer.from([0, 1, 255]).toString('base64'),
      payload_encoding: 'base64',
      qos: 1,
      properties: {
        content_type: 'application/x-order',
        response_topic: 'orders/7/answer',
        correlation_data: 'question',
        message_expiry_interval: 60,
        user_properties: { source: 'shop', tag: ['a', 'b'] },
      },
    });
    expect(answer).toEqual({ status: 200, body: { id: expect.any(String) } });
    const [packet] = await received;
    expect(packet).toMatchObject({ topic: 'orders/7', qos: 1, payload: Buffer.from([0, 1, 255]) });
    expect(packet?.properties).toMatchObject({
      contentType: 'application/x-order',
      responseTopic: 'orders/7/answer',
      correlationData: Buffer.from('question'),
      userProperties: { source: 'shop', tag: ['a', 'b'] },
    });
  });
});
