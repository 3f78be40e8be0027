import { describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import { type DoorFixture, NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import type { TestClient } from './util/test-client.ts';

const NOTICES = '$SYS/session/dropped';
const QUEUE_LENGTH = 3;

type Figures = Readonly<Record<string, number>>;

/** Of a list with an entry for each process the sums. */
async function get(door: DoorFixture, path: string): Promise<Figures> {
  const answer = await fetch(new URL(`/api/v5${path}`, door.httpUrl));
  const body = (await answer.json()) as Figures | readonly Figures[];
  const sums: Record<string, number> = {};
  for (const entry of Array.isArray(body) ? (body as readonly Figures[]) : [body as Figures])
    for (const [name, figure] of Object.entries(entry)) sums[name] = (sums[name] ?? 0) + figure;
  return sums;
}

const noticeOf = async (client: TestClient): Promise<unknown> => {
  const { topic, payload, qos, retain } = await client.receive();
  expect({ topic, qos, retain }).toEqual({ topic: NOTICES, qos: 0, retain: false });
  return JSON.parse(payload);
};

/** A session that is offline when `count` messages come for it, of which its queue holds the last three. */
async function overflown(door: DoorFixture, count: number, version: 4 | 5 = 5) {
  const topic = unique('t');
  const clientId = unique('c');
  const resume = () => (version === 5 ? door.resume(clientId) : door.resume311(clientId));
  const client = await resume();
  await client.subscribe([topic, NOTICES], { qos: 1 });
  await client.disconnect();
  const publisher = await door.connect();
  for (let index = 0; index < count; index += 1) await publisher.publish(topic, `${index}`, { qos: 1 });
  return { topic, clientId, resume, publisher };
}

describe(withOptions('Messages that a full queue drops'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ queueLengthMax: QUEUE_LENGTH });

  for (const version of [5, 4] as const) {
    const name = version === 5 ? 'MQTT 5.0' : 'MQTT 3.1.1';
    test(`are reported to the client before the remaining messages, ${name}`, async () => {
      const { resume } = await overflown(door, 7, version);
      const client = await resume();
      expect(await noticeOf(client)).toEqual({ dropped: 4, queue_full: 4, total: 4 });
      expect((await client.receive()).payload).toBe('4');
    });
  }

  test('are reported once, and then only later ones, with the total', async () => {
    const { topic, resume, publisher } = await overflown(door, 5);
    const client = await resume();
    expect(await noticeOf(client)).toMatchObject({ dropped: 2, total: 2 });
    for (let left = QUEUE_LENGTH; left > 0; left -= 1) await client.receive();
    await client.ping();
    await client.disconnect();
    for (let index = 0; index < 4; index += 1) await publisher.publish(topic, 'again', { qos: 1 });
    expect(await noticeOf(await resume())).toMatchObject({ dropped: 1, total: 3 });
  });

  test('are counted for the client and in all, by the names of EMQX', async () => {
    const before = await get(door, '/metrics');
    const { clientId } = await overflown(door, 7);
    const { clientId: other } = await overflown(door, QUEUE_LENGTH);
    const after = await get(door, '/metrics');
    for (const name of ['delivery.dropped', 'delivery.dropped.queue_full'])
      expect((after[name] ?? 0) - (before[name] ?? 0)).toBe(4);
    expect(await get(door, `/clients/${clientId}`)).toMatchObject({
      mqueue_dropped: 4,
      'send_msg.dropped': 4,
      'send_msg.dropped.queue_full': 4,
      'send_msg.dropped.qos0_msg': 0,
    });
    expect(await get(door, `/clients/${other}`)).toMatchObject({ mqueue_dropped: 0, 'send_msg.dropped': 0 });
  });

  test('are reported only to the client that missed them', async () => {
    const { resume } = await overflown(door, 7);
    const stranger = await door.connect();
    await stranger.subscribe(['$SYS/#', '#']);
    await noticeOf(await resume());
    // That the client has connected is all that others see.
    expect((await stranger.receive()).topic).toMatch(/^\$SYS\/brokers\/.*\/connected$/);
    await stranger.expectNothing();
  });

  test('are counted from zero for a new session', async () => {
    const { clientId } = await overflown(door, 7);
    const client = await door.connect({ clientId, clean: true });
    await client.subscribe(NOTICES);
    expect(await get(door, `/clients/${clientId}`)).toMatchObject({ 'send_msg.dropped': 0 });
    await client.expectNothing();
  });

  test('are reported by the broker alone: no client may publish such a report', async () => {
    const client = await door.connect();
    expect(await client.publish(NOTICES, '{"dropped":1}', { qos: 1 })).toMatchObject({ reasonCode: 0x87 });
  });
});

describe(
  withOptions('A message larger than the Maximum Packet Size of its subscriber'),
  NEEDS_OWN_DOOR,
  () => {
    const door = useDoor();

    test('is counted, and reported to the subscriber', async () => {
      const topic = unique('t');
      const client = await door.connect({ properties: { maximumPacketSize: 300 } });
      await client.subscribe([topic, NOTICES]);
      const publisher = await door.connect();
      await publisher.publish(topic, 'x'.repeat(400), { qos: 1 });
      expect(await noticeOf(client)).toEqual({ dropped: 1, too_large: 1, total: 1 });
      expect(await get(door, `/clients/${client.clientId}`)).toMatchObject({
        'send_msg.dropped.too_large': 1,
      });
    });
  },
);

describe('CONNACK', () => {
  const door = useDoor();

  test('names the topic on which a client is told of its dropped messages', async () => {
    const { connack } = await door.connect();
    expect(connack.properties).toMatchObject({ userProperties: { 'dropped-topic': NOTICES } });
  });

  test('leaves that out where the client takes only small packets [MQTT-3.2.2-20]', async () => {
    const { connack } = await door.connect({ properties: { maximumPacketSize: 40 } });
    expect(connack.properties).not.toHaveProperty('userProperties');
  });
});
