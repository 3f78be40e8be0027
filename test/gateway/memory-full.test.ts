import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import { type Client, DOORS, useDoors } from './doors.ts';

const PAYLOAD = Buffer.alloc(15_000, 'x');
const PERSISTENT = { properties: { sessionExpiryInterval: 600 }, clean: false };
const QUOTA_EXCEEDED = 0x97;

/** Fills the memory of the process with retained messages, and returns the topic of one. */
async function fill(client: Client): Promise<string> {
  const root = unique('filler');
  for (let index = 0; index < 100; index += 1) {
    const packet = { cmd: 'publish', topic: `${root}/${index}`, payload: PAYLOAD, qos: 1, retain: true };
    const [puback] = await client.exchange({ ...packet, messageId: index + 1 });
    if (puback?.reasonCode === QUOTA_EXCEEDED) return `${root}/0`;
  }
  throw new Error('a hundred messages of 15 KB were kept in 200 KB');
}

const publish = (topic: string, fields: Record<string, unknown> = {}) => ({
  ...{ cmd: 'publish', topic, payload: 'x', qos: 1, messageId: 1, ...fields },
});
const subscribe = (topic: string) => ({
  ...{ cmd: 'subscribe', messageId: 9, subscriptions: [{ topic, qos: 1, nl: false, rap: false, rh: 0 }] },
});

const STORES = DOORS.flatMap((door) => [
  [door, 'in memory'] as const,
  [door, 'in a data directory'] as const,
]);

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-memory-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  return directory;
}

describe.each(STORES)('where the memory of the process is full, at the %s door, %s', (door, where) => {
  const dataDirectory = where === 'in memory' ? undefined : temporaryDirectory();
  const doors = useDoors({ memoryBytesMax: 200_000, dataDirectory });

  test('[SEC-MEMORY-5] a message that would be stored is refused with 0x97, and accepted ones are delivered', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const subscriber = await doors.connect(door, { ...PERSISTENT, clientId });
    await subscriber.exchange(subscribe(topic));
    await subscriber.vanish();
    const publisher = await doors.connect(door);
    const [taken] = await publisher.exchange(publish(topic, { payload: 'taken' }));
    expect(taken).toMatchObject({ cmd: 'puback', reasonCode: 0 });
    const filler = await fill(publisher);

    const [refused] = await publisher.exchange(publish(topic, { payload: 'refused', messageId: 2 }));
    expect(refused).toMatchObject({ cmd: 'puback', reasonCode: QUOTA_EXCEEDED });
    const [pubrec] = await publisher.exchange(publish(topic, { qos: 2, messageId: 3 }));
    expect(pubrec).toMatchObject({ cmd: 'pubrec', reasonCode: QUOTA_EXCEEDED });
    const [suback] = await publisher.exchange(subscribe(unique('other')));
    expect(suback).toMatchObject({ cmd: 'suback', granted: [QUOTA_EXCEEDED] });
    const unmatched = await publisher.exchange(publish(unique('nobody'), { messageId: 4 }));
    expect(unmatched).toMatchObject([{ cmd: 'puback', reasonCode: 0x10 }]);

    // A session that exists is resumed, and gets its acknowledged messages.
    const again = await doors.connect(door, { ...PERSISTENT, clientId });
    expect(again.connack).toMatchObject({ reasonCode: 0, sessionPresent: true });
    expect(await again.next()).toMatchObject({ payload: Buffer.from('taken') });
    await again.expectNothing();

    await publisher.exchange(publish(filler, { payload: '', retain: true, messageId: 5 }));
    const [accepted] = await publisher.exchange(publish(topic, { payload: 'accepted', messageId: 6 }));
    expect(accepted).toMatchObject({ cmd: 'puback', reasonCode: 0 });
    expect(await again.next()).toMatchObject({ payload: Buffer.from('accepted') });
  });

  test('a new session is refused without CONNACK, so that mqtt.js retries, and a client of MQTT 3.1.1 keeps its message', async () => {
    const topic = unique('t');
    const subscriber = await doors.connect(door, PERSISTENT);
    await subscriber.exchange(subscribe(topic));
    const old = await doors.connect(door, { protocolVersion: 4 });
    await fill(subscriber);
    const refused = await doors.connect(door).then(
      ({ connack }) => connack.reasonCode,
      (error: Error) => error.message,
    );
    expect(refused).toMatch(/closed/);
    // MQTT 3.1.1 has no reason codes here: after the close the client sends again.
    await Promise.all([old.expectClose(), old.exchange(publish(topic)).catch(() => {})]);
    await subscriber.expectNothing();
  });
});

describe.each(DOORS)('removals, where the memory of the process is full, at the %s door', (door) => {
  const doors = useDoors({ memoryBytesMax: 200_000 });

  test('the removal of a retained message is refused, too, if it would be queued [SEC-MEMORY-5]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const subscriber = await doors.connect(door, { ...PERSISTENT, clientId });
    await subscriber.exchange(subscribe(topic));
    await subscriber.vanish();
    const publisher = await doors.connect(door);
    const filler = await fill(publisher);
    const userProperties = { flood: 'x'.repeat(10_000) };
    for (const messageId of [1, 2, 3]) {
      const removal = publish(topic, {
        payload: '',
        retain: true,
        messageId,
        properties: { userProperties },
      });
      expect(await publisher.exchange(removal)).toMatchObject([{ reasonCode: QUOTA_EXCEEDED }]);
    }
    await publisher.exchange(publish(filler, { payload: '', retain: true, messageId: 5 }));
    const again = await doors.connect(door, { ...PERSISTENT, clientId });
    await again.expectNothing();
  });
});

describe.each(DOORS)('wills, where the memory of the process is full, at the %s door', (door) => {
  const doors = useDoors({ memoryBytesMax: 200_000 });

  test('a client cannot fill it with wills by connecting again and again; without a will it is accepted [SEC-MEMORY-5]', async () => {
    const topic = unique('t');
    const [clientId, away] = [unique('c'), unique('away')];
    const subscriber = await doors.connect(door, { ...PERSISTENT, clientId: away });
    await subscriber.exchange(subscribe(topic));
    await subscriber.vanish();
    await (await doors.connect(door, { ...PERSISTENT, clientId })).vanish();
    const publisher = await doors.connect(door);
    await fill(publisher);
    const will = { topic, payload: Buffer.alloc(12_000), qos: 1, retain: false };
    const outcomes = [];
    for (let round = 0; round < 10; round += 1) {
      const outcome = await doors.connect(door, { ...PERSISTENT, clientId, will }).then(
        async (client) => {
          if (client.connack.reasonCode === 0) await client.vanish();
          return client.connack.reasonCode;
        },
        () => QUOTA_EXCEEDED,
      );
      outcomes.push(outcome);
    }
    expect(outcomes[0]).toBe(0);
    expect(outcomes.slice(-5)).toEqual(Array.from({ length: 5 }, () => QUOTA_EXCEEDED));
    expect((await doors.connect(door, { ...PERSISTENT, clientId })).connack.reasonCode).toBe(0);
  });
});
