import { EventEmitter } from 'node:events';
import type { MqttClient, Packet } from 'mqtt';
import { describe, expect, test } from 'vitest';
import { resume, type StreamGap } from '../src/resume.ts';
import { ControlledClock } from './support/controlled-clock.ts';

type Said = Record<string, string | string[]>;

interface Asked {
  readonly topic: string;
  readonly said: Said | undefined;
}

/** The part of mqtt.js that the helper uses. The test is the broker. */
class FakeClient extends EventEmitter {
  readonly options: Record<string, unknown> = { protocolVersion: 5 };
  connected = true;
  readonly asked: Asked[] = [];
  #identifier: number | undefined;
  #messageId = 0;

  subscribe(
    filters: string | Record<string, unknown>,
    options: { properties?: { userProperties?: Said } },
  ): void {
    const [topic = ''] = typeof filters === 'string' ? [filters] : Object.keys(filters);
    this.#messageId += 1;
    const packet = {
      cmd: 'subscribe',
      messageId: this.#messageId,
      subscriptions: [{ topic, qos: 0 }],
      properties: options.properties,
    } as unknown as Extract<Packet, { cmd: 'subscribe' }>;
    this.emit('packetsend', packet);
    this.#identifier = packet.properties?.subscriptionIdentifier;
    this.asked.push({ topic, said: packet.properties?.userProperties as Said | undefined });
  }

  /** Answers the last SUBSCRIBE. */
  suback(userProperties: Said | undefined, code = 0): void {
    const properties = { userProperties };
    this.emit('packetreceive', { cmd: 'suback', messageId: this.#messageId, granted: [code], properties });
  }

  message(topic: string, position: string, kind?: string): void {
    const userProperties = {
      'stream-position': position,
      ...(kind !== undefined && { 'stream-kind': kind }),
    };
    const properties = { userProperties, subscriptionIdentifier: this.#identifier };
    this.emit('message', topic, Buffer.from(position), { cmd: 'publish', properties });
  }

  comesBack(clock: ControlledClock): Promise<void> {
    this.emit('close');
    this.emit('connect', {});
    return clock.runDue();
  }
}

function open() {
  const client = new FakeClient();
  const clock = new ControlledClock();
  const gaps: StreamGap[] = [];
  const seen: string[] = [];
  resume(client as unknown as MqttClient, { onGap: (gap) => gaps.push(gap), timers: clock });
  client.on('message', (_topic: string, payload: Buffer) => seen.push(payload.toString()));
  return { client, clock, gaps, seen };
}

const reads = (client: FakeClient, topic: string, userProperties: Said = { 'stream-offset': 'latest' }) =>
  client.subscribe(topic, { properties: { userProperties } });

describe('resume()', () => {
  test('refuses a client of MQTT 3.1.1', () => {
    const client = new FakeClient();
    client.options.protocolVersion = 4;
    expect(() => resume(client as unknown as MqttClient)).toThrow(/protocolVersion 5/);
  });

  test('asks for a missing message after half a second, and then hands over the held ones in their place', async () => {
    const { client, clock, seen } = open();
    reads(client, 'chat/a');
    client.suback({ 'stream-recovered': 'true', 'stream-position': 'e-4' });
    client.message('chat/a', 'e-6-1');
    await clock.advance(499);
    expect(client.asked).toHaveLength(1);
    await clock.advance(1);
    expect(client.asked[1]).toEqual({ topic: 'chat/a', said: { 'stream-position': ['e-4'] } });
    client.suback({ 'stream-recovered': 'true', 'stream-position': 'e-6', 'stream-after': 'e-4' });
    client.message('chat/a', 'e-5-1', 'recovered');
    client.message('chat/a', 'e-6-1', 'recovered');
    client.message('chat/a', 'e-5-1');
    client.message('chat/a', 'e-7-1');
    expect(seen).toEqual(['e-5-1', 'e-6-1', 'e-7-1']);
    expect(clock.pending).toBe(0);
  });

  test('asks for nothing if a missing message comes in time', async () => {
    const { client, clock, seen } = open();
    reads(client, 'chat/a');
    client.suback({ 'stream-recovered': 'true', 'stream-position': 'e-4' });
    client.message('chat/a', 'e-6-1');
    client.message('chat/a', 'e-5-1');
    await clock.advance(10_000);
    expect(seen).toEqual(['e-5-1', 'e-6-1']);
    expect(client.asked).toHaveLength(1);
  });

  test('holds at most a thousand messages, and then asks for them', () => {
    const { client, seen } = open();
    reads(client, 'chat/a');
    client.suback({ 'stream-recovered': 'true', 'stream-position': 'e-0' });
    for (let number = 2; number <= 1_001; number += 1) client.message('chat/a', `e-${number}-0`);
    expect(client.asked).toHaveLength(1);
    client.message('chat/a', 'e-1002-0');
    expect(client.asked[1]?.said).toEqual({ 'stream-position': ['e-0'] });
    expect(seen).toEqual([]);
  });

  test('hands over no message that comes between the end of a connection and the next SUBACK', async () => {
    const { client, clock, seen } = open();
    reads(client, 'chat/a');
    client.suback({ 'stream-recovered': 'true', 'stream-position': 'e-4' });
    client.message('chat/a', 'e-5');
    client.emit('close');
    client.message('chat/a', 'e-9');
    client.emit('connect', {});
    await clock.runDue();
    client.message('chat/a', 'e-9');
    expect(seen).toEqual(['e-5']);
    expect(client.asked[1]?.said).toEqual({ 'stream-position': ['e-5'] });
  });

  test('goes on behind the beginning that SUBACK named if no message has come yet', async () => {
    const { client, clock } = open();
    reads(client, 'chat/a', { rewind: '10', mood: 'good' });
    client.suback({ 'stream-recovered': 'true', 'stream-position': 'e-40', 'stream-after': 'e-30' });
    await client.comesBack(clock);
    expect(client.asked[1]?.said).toEqual({ mood: 'good', 'stream-position': ['e-30'] });
  });

  test('begins as the program has asked if no SUBACK has come', async () => {
    const { client, clock } = open();
    reads(client, 'chat/a', { rewind: '10' });
    await client.comesBack(clock);
    expect(client.asked[1]?.said).toEqual({ rewind: '10' });
  });

  test('sends its position in each topic of a filter with wildcards', async () => {
    const { client, clock } = open();
    reads(client, '$stream/chat');
    client.suback({ 'stream-recovered': 'true', 'stream-position': ['e-4 chat/a', 'f-1 chat/b c'] });
    client.message('chat/a', 'e-5');
    client.message('chat/new', 'g-1');
    await client.comesBack(clock);
    expect(client.asked[1]?.said).toEqual({
      'stream-position': ['e-5 chat/a', 'f-1 chat/b c', 'g-1 chat/new'],
    });
  });

  test('asks for all topics that have begun since if there was none', async () => {
    const { client, clock } = open();
    reads(client, 'chat/#');
    client.suback({ 'stream-recovered': 'true' });
    await client.comesBack(clock);
    expect(client.asked[1]?.said).toEqual({ 'stream-offset': 'earliest' });
  });

  test('tells of a gap, and goes on from what SUBACK says', async () => {
    const { client, clock, gaps, seen } = open();
    reads(client, 'chat/a');
    client.suback({ 'stream-recovered': 'true', 'stream-position': 'e-4' });
    await client.comesBack(clock);
    client.suback({ 'stream-recovered': 'false', 'stream-position': 'f-9', 'stream-after': 'f-8' });
    expect(gaps).toEqual([{ topicFilter: 'chat/a', refusedWith: undefined }]);
    client.message('chat/a', 'f-9', 'snapshot');
    client.message('chat/a', 'f-10-1');
    expect(seen).toEqual(['f-9', 'f-10-1']);
  });

  test('begins once more, with a gap, if its positions are refused, and lets messages pass from then on', async () => {
    const { client, clock, gaps, seen } = open();
    reads(client, '$stream/chat');
    client.suback({ 'stream-recovered': 'true' });
    client.message('chat/a', 'e-4');
    await client.comesBack(clock);
    client.suback(undefined, 0x97);
    await clock.runDue();
    expect(client.asked[2]?.said).toEqual({ 'stream-offset': 'latest' });
    client.suback({ 'stream-recovered': 'true' });
    expect(gaps).toEqual([{ topicFilter: '$stream/chat', refusedWith: undefined }]);
    client.message('chat/a', 'e-9-2');
    expect(seen).toEqual(['e-4', 'e-9-2']);
  });

  test('reports the refusal of a subscription that has begun, and forgets it', async () => {
    const { client, clock, gaps } = open();
    reads(client, 'chat/a');
    client.suback({ 'stream-recovered': 'true', 'stream-position': 'e-4' });
    await client.comesBack(clock);
    client.suback(undefined, 0x87);
    expect(gaps).toEqual([{ topicFilter: 'chat/a', refusedWith: 0x87 }]);
    await client.comesBack(clock);
    expect(client.asked).toHaveLength(2);
  });

  test('changes nothing in the grants of a broker without streams', async () => {
    const { client, clock, seen } = open();
    reads(client, 'chat/a');
    client.suback(undefined);
    client.message('chat/a', 'e-9-2');
    expect(seen).toEqual(['e-9-2']);
    await client.comesBack(clock);
    expect(client.asked).toHaveLength(1);
  });
});
