import { afterAll, describe, expect, it } from 'vitest';
import { publish, subscribe, TextClient } from '../support/text-client.ts';
import { unique } from '../support/unique.ts';
import { type Client, DOORS, useDoors } from './doors.ts';

const doors = useDoors();

const ACROSS = [
  ['node', 'gateway'],
  ['gateway', 'node'],
] as const;

/** The handlers sent nothing after they had returned. */
afterAll(() => {
  expect(doors.node.gateway?.emulator.counters.snapshot().events).not.toHaveProperty('requestsWhileFrozen');
});

/** Acknowledges a message as its QoS requires. Returns the broker's answers. */
async function acknowledge(client: Client, message: { qos?: unknown; messageId?: unknown }): Promise<void> {
  const { qos, messageId } = message;
  if (qos === 1) await client.exchange({ cmd: 'puback', messageId });
  if (qos !== 2) return;
  expect(await client.exchange({ cmd: 'pubrec', messageId })).toMatchObject([{ cmd: 'pubrel', messageId }]);
  await client.exchange({ cmd: 'pubcomp', messageId });
}

describe.each(ACROSS)('a message published at the %s door', (from, to) => {
  it.each([0, 1, 2])(`arrives at the ${to} door at QoS %i, once, with its properties`, async (qos) => {
    const topic = unique('across');
    const subscriber = await doors.connect(to);
    await subscriber.exchange(subscribe(topic, { qos: 2 }));
    const publisher = await doors.connect(from);
    const properties = { contentType: 'text/plain', userProperties: { a: 'b' } };
    const answers = await publisher.exchange(publish(topic, 'hello', { qos, messageId: 7, properties }));
    expect(answers.map(({ cmd }) => cmd)).toEqual([[], ['puback'], ['pubrec']][qos]);
    const message = await subscriber.next();
    expect(message).toMatchObject({ cmd: 'publish', topic, qos, dup: false, retain: false });
    expect(String(message.payload)).toBe('hello');
    expect(message.properties).toMatchObject({ contentType: 'text/plain' });
    await acknowledge(subscriber, message);
    if (qos === 2) await publisher.exchange({ cmd: 'pubrel', messageId: 7 });
    await subscriber.expectNothing();
  });

  it(`is retained for the ${to} door`, async () => {
    const topic = unique('kept');
    const publisher = await doors.connect(from);
    await publisher.exchange(publish(topic, 'kept', { retain: true, qos: 1 }));
    const subscriber = await doors.connect(to);
    const [suback, message] = await subscriber.exchange(subscribe(topic));
    expect(suback).toMatchObject({ cmd: 'suback' });
    expect(message).toMatchObject({ cmd: 'publish', retain: true });
    await publisher.exchange(publish(topic, '', { retain: true, qos: 1 }));
  });

  it(`waits for a session that was left at the ${to} door`, async () => {
    const topic = unique('waits');
    const session = { clientId: unique('waits'), properties: { sessionExpiryInterval: 60 } };
    const before = await doors.connect(to, session);
    await before.exchange(subscribe(topic, { qos: 1 }));
    await before.vanish();
    await (await doors.connect(from)).exchange(publish(topic, 'waited', { qos: 1 }));
    const after = await doors.connect(to, { ...session, clean: false });
    expect(after.connack.sessionPresent).toBe(true);
    expect(String((await after.next()).payload)).toBe('waited');
  });
});

describe.each(ACROSS)('a session taken over from the %s door', (from, to) => {
  it(`goes on at the ${to} door, and its old connection gets 0x8E and is closed`, async () => {
    const topic = unique('moved');
    const session = { clientId: unique('moved'), properties: { sessionExpiryInterval: 60 } };
    const before = await doors.connect(from, session);
    await before.exchange(subscribe(topic, { qos: 1 }));
    const publisher = await doors.connect('node');
    await publisher.exchange(publish(topic, 'not acknowledged', { qos: 1 }));
    expect(String((await before.next()).payload)).toBe('not acknowledged');
    const after = await doors.connect(to, { ...session, clean: false });
    expect(after.connack.sessionPresent).toBe(true);
    expect(await before.next()).toMatchObject({ cmd: 'disconnect', reasonCode: 0x8e });
    await before.expectClose();
    const again = await after.next();
    expect(again).toMatchObject({ cmd: 'publish', dup: true });
    expect(String(again.payload)).toBe('not acknowledged');
    await acknowledge(after, again);
    await publisher.exchange(publish(topic, 'live', { qos: 1 }));
    expect(String((await after.next()).payload)).toBe('live');
  });

  it('sends the will of its old connection once, and never that of the new one', async () => {
    const topic = unique('heir');
    const clientId = unique('heir');
    const watcher = await doors.connect(from);
    await watcher.exchange(subscribe(topic));
    await doors.connect(from, { clientId, will: { topic, payload: 'old', qos: 0, retain: false } });
    await doors.connect(to, { clientId, will: { topic, payload: 'new', qos: 0, retain: false } });
    expect(String((await watcher.next()).payload)).toBe('old');
    await watcher.expectNothing();
  });

  it('ends when the new client wants a clean start', async () => {
    const topic = unique('anew');
    const session = { clientId: unique('anew'), properties: { sessionExpiryInterval: 60 } };
    const before = await doors.connect(from, session);
    await before.exchange(subscribe(topic, { qos: 1 }));
    const after = await doors.connect(to, session);
    expect(after.connack.sessionPresent).toBe(false);
    await before.expectClose();
    await (await doors.connect('node')).exchange(publish(topic, 'x', { qos: 1 }));
    await after.expectNothing();
  });
});

describe('a shared subscription with members at both doors', () => {
  it('gives each message to one of them, and all to the members that are left', async () => {
    const topic = unique('shared');
    const filter = `$share/group/${topic}`;
    const members: Client[] = [];
    for (const door of [...DOORS, ...DOORS]) {
      const member = await doors.connect(door, { properties: { receiveMaximum: 100 } });
      await member.exchange(subscribe(filter, { qos: 1 }));
      members.push(member);
    }
    const publisher = await doors.connect('gateway');
    const texts = Array.from({ length: 40 }, (_, index) => String(index));
    await publisher.exchange(...texts.map((text) => publish(topic, text, { qos: 1 })));
    const shares = await Promise.all(members.map((member) => take(member, 10)));
    expect(shares.flat().sort()).toEqual([...texts].sort());
    for (const member of members) await member.expectNothing();
  });

  it('passes the unacknowledged messages of a lost member on, to the other door', async () => {
    const topic = unique('shared');
    const filter = `$share/group/${topic}`;
    const lost = await doors.connect('gateway');
    await lost.exchange(subscribe(filter, { qos: 1 }));
    const publisher = await doors.connect('node');
    await publisher.exchange(publish(topic, 'x', { qos: 1 }));
    expect(String((await lost.next()).payload)).toBe('x');
    const heir = await doors.connect('node');
    await heir.exchange(subscribe(filter, { qos: 1 }));
    await lost.vanish();
    expect(String((await heir.next()).payload)).toBe('x');
  });
});

/** The payloads of the next messages. */
async function take(client: Client, count: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < count) texts.push(String((await client.next()).payload));
  return texts;
}

describe('a large message from the node door', () => {
  /** With a topic of 8 characters, the PUBLISH of MQTT 5.0 at QoS 0 has 15 bytes more than the payload. */
  const topic = 'large/it';
  const OVERHEAD_BYTES = 1 + 3 + 2 + topic.length + 1;

  it.each([30_000, 65_000, 90_000, 98_301 - OVERHEAD_BYTES])(
    'of %i bytes reaches a gateway client in one frame',
    async (bytes) => {
      const subscriber = await doors.connect('gateway');
      await subscriber.exchange(subscribe(topic));
      const payload = Buffer.alloc(bytes, 'large ');
      const before = doors.node.gateway?.emulator.counters.snapshot().messages.posts.count ?? 0;
      await (await doors.connect('node')).exchange(publish(topic, payload));
      expect((await subscriber.next()).payload).toEqual(payload);
      const after = doors.node.gateway?.emulator.counters.snapshot().messages.posts.count ?? 0;
      expect(after - before).toBe(1);
      await subscriber.exchange({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: [topic] });
    },
  );

  it.each([30_000, 65_000, 90_000])(
    'of %i bytes that waited for a session follows CONNACK, in its reply',
    async (bytes) => {
      const large = unique('waits');
      const session = { clientId: unique('large'), properties: { sessionExpiryInterval: 60 } };
      const before = await doors.connect('gateway', session);
      await before.exchange(subscribe(large, { qos: 1 }));
      await before.vanish();
      const payload = Buffer.alloc(bytes, 'large ');
      const publisher = await doors.connect('node');
      for (const each of ['first', payload, 'last'])
        await publisher.exchange(publish(large, each, { qos: 1 }));
      const url = doors.node.gateway?.url ?? '';
      const { client, reply } = await TextClient.connect(url, { ...session, clean: false });
      const replies = [reply];
      while (replies.at(-1)?.more === true) replies.push(await client.fetch());
      const packets = replies.flatMap((each) => each.packets);
      expect(packets.map(({ cmd }) => cmd)).toEqual(['connack', 'publish', 'publish', 'publish']);
      expect(packets.map(({ payload: each }) => (each as Buffer | undefined)?.length)).toEqual([
        undefined,
        5,
        bytes,
        4,
      ]);
      expect(client.pushes.size).toBe(0);
    },
  );

  it.each([30_000, 90_000])('of %i bytes that is retained follows SUBACK, in its reply', async (bytes) => {
    const large = unique('kept');
    const publisher = await doors.connect('node');
    await publisher.exchange(publish(large, Buffer.alloc(bytes), { qos: 1, retain: true }));
    const { client } = await TextClient.connect(doors.node.gateway?.url ?? '');
    const reply = await client.exchange(subscribe(large));
    expect(reply.packets.map(({ cmd }) => cmd)).toEqual(['suback', 'publish']);
    await publisher.exchange(publish(large, '', { qos: 1, retain: true }));
  });

  it.each([0, 1])('over 98,301 bytes is not delivered, at QoS %i, and the next one is', async (qos) => {
    const subscriber = await doors.connect('gateway', { properties: { sessionExpiryInterval: 60 } });
    const other = await doors.connect('node');
    for (const each of [subscriber, other]) await each.exchange(subscribe(topic, { qos }));
    const publisher = await doors.connect('node');
    await publisher.exchange(
      publish(topic, Buffer.alloc(98_302 - OVERHEAD_BYTES), { qos }),
      publish(topic, 'small', { qos }),
    );
    expect(String((await subscriber.next()).payload)).toBe('small');
    expect((await other.next()).payload).toHaveLength(98_302 - OVERHEAD_BYTES);
    await subscriber.expectNothing();
    await subscriber.exchange({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: [topic] });
  });
});
