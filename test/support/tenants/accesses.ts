import type { IClientOptions, Packet } from 'mqtt';
import { expect, vi } from 'vitest';
import { unique } from '../unique.ts';
import { CLIENT_EVENTS, type ConnectMqtt, Program } from './program.ts';

/** Two tenants with the same names for everything, and the ways to connect to them. */
export interface Tenancy {
  readonly connectMqtt: ConnectMqtt;
  readonly own: string;
  readonly other: string;
  /** Waits until the published messages have been delivered, by workers as well. */
  delivered(): Promise<void>;
}

/** Streams that the door under test must declare. */
export const TENANT_STREAMS = [{ name: 'chat', topicFilter: 'chat/#' }];

/** More than the head item of a filter holds: in a deployment workers serve such a filter. */
const WIDE = 12;

/** The answer to a message that no client has subscribed to. */
const NO_MATCHING_SUBSCRIBERS = 0x10;

/** Separators in a name that tries to reach another tenant. U+0000 is not allowed in an MQTT string. */
const SEPARATORS = ['/', ':', '|', '\\0', '%00', '..'];

const KEPT: IClientOptions = { clean: false, properties: { sessionExpiryInterval: 60 } };

/**
 * Every way to a message or a session of a tenant. A client of the `other` tenant with the same names tries each, and
 * must see nothing; a client of the `own` tenant must succeed, so that the trial can fail.
 */
export const ACCESSES: Readonly<Record<string, (tenancy: Tenancy) => Promise<void>>> = {
  'subscribing to the same topic, and to wildcards': async (tenancy) => {
    const topic = unique('news/a');
    const [own, other] = await both(tenancy);
    for (const { mqtt } of [own, other]) await mqtt.subscribeAsync([topic, 'news/+', '#'], { qos: 2 });
    for (const qos of [0, 1, 2] as const) await own.mqtt.publishAsync(topic, `qos ${qos}`, { qos });
    await tenancy.delivered();
    expect(new Set(own.payloads)).toEqual(new Set(['qos 0', 'qos 1', 'qos 2']));
    await other.expectNothing();
  },

  'a filter with many subscribers': async (tenancy) => {
    const topic = unique('wide');
    const [own, other] = await both(tenancy);
    const audience = await Promise.all(Array.from({ length: WIDE }, () => connect(tenancy, tenancy.own)));
    for (const { mqtt } of [other, ...audience]) await mqtt.subscribeAsync(topic, { qos: 1 });
    await own.mqtt.publishAsync(topic, 'to many', { qos: 1 });
    for (const each of audience) await each.expectPayloads(['to many']);
    await tenancy.delivered();
    await other.expectNothing();
    await other.mqtt.publishAsync(topic, 'to one', { qos: 1 });
    await tenancy.delivered();
    for (const each of audience) expect(each.payloads).toEqual(['to many']);
  },

  'a share group of the same name': async (tenancy) => {
    const topic = unique('work');
    const [own, other] = await both(tenancy);
    for (const { mqtt } of [own, other]) await mqtt.subscribeAsync(`$share/workers/${topic}`, { qos: 1 });
    const jobs = Array.from({ length: 6 }, (_, index) => `job ${index}`);
    for (const job of jobs) await own.mqtt.publishAsync(topic, job, { qos: 1 });
    await own.expectPayloads(jobs);
    await other.expectNothing();
  },

  'a retained message: read, deleted, replaced': async (tenancy) => {
    const topic = unique('state');
    const [own, other] = await both(tenancy);
    await own.mqtt.publishAsync(topic, 'kept', { qos: 1, retain: true });
    await other.mqtt.subscribeAsync([topic, '#'], { qos: 1 });
    await other.expectNothing();
    await other.mqtt.publishAsync(topic, '', { qos: 1, retain: true });
    await own.mqtt.subscribeAsync(topic, { qos: 1 });
    await own.expectPayloads(['kept']);
    await other.mqtt.publishAsync(topic, 'of the other', { qos: 1, retain: true });
    const [later, laterOther] = await both(tenancy);
    for (const { mqtt } of [later, laterOther]) await mqtt.subscribeAsync(topic, { qos: 1 });
    await later.expectPayloads(['kept']);
    await laterOther.expectPayloads(['of the other']);
  },

  'a connection with the same client identifier': async (tenancy) => {
    const [topic, clientId] = [unique('t'), unique('c')];
    const own = await connect(tenancy, tenancy.own, { ...KEPT, clientId });
    await own.mqtt.subscribeAsync(topic, { qos: 1 });
    const other = await connect(tenancy, tenancy.other, { ...KEPT, clientId });
    expect(other.isSessionPresent).toBe(false);
    await other.mqtt.subscribeAsync(topic, { qos: 1 });
    await other.mqtt.unsubscribeAsync(topic);
    await other.mqtt.publishAsync(topic, 'of the other', { qos: 2 });
    await own.mqtt.publishAsync(topic, 'own', { qos: 2 });
    await own.expectPayloads(['own']);
    await other.expectNothing();
    expect(own.mqtt.connected).toBe(true);
  },

  'a session that waits, with the same client identifier': async (tenancy) => {
    const clientId = await waiting(tenancy);
    for (const clean of [false, true]) {
      const other = await connect(tenancy, tenancy.other, { ...KEPT, clean, clientId });
      expect(other.isSessionPresent).toBe(false);
      await other.expectNothing();
      await other.mqtt.endAsync(false, { properties: { sessionExpiryInterval: 0 } });
    }
    await expectWaited(tenancy, clientId);
  },

  'a will, also of the same client identifier': async (tenancy) => {
    const [topic, clientId] = [unique('will'), unique('c')];
    const [own, other] = await both(tenancy);
    for (const { mqtt } of [own, other]) await mqtt.subscribeAsync(topic, { qos: 1 });
    const will = { topic, payload: Buffer.from('lost'), qos: 1, retain: false } as const;
    const dying = await connect(tenancy, tenancy.own, { clientId, will });
    dying.mqtt.end(true);
    await connect(tenancy, tenancy.other, { clientId });
    await own.expectPayloads(['lost']);
    await other.expectNothing();
  },

  'a delayed message': async (tenancy) => {
    const topic = unique('later');
    const [own, other] = await both(tenancy);
    for (const { mqtt } of [own, other]) await mqtt.subscribeAsync(topic, { qos: 1 });
    await own.mqtt.publishAsync(`$delayed/1/${topic}`, 'later', { qos: 1 });
    await own.expectPayloads(['later']);
    await tenancy.delivered();
    await other.expectNothing();
  },

  'the answer that says whether a client subscribes': async ({ own: ofOwn, other: ofOther, ...door }) => {
    const topic = unique('asked');
    // No client of another trial has subscribed to `#` there.
    const [own, other] = await both({ ...door, own: `${ofOwn}-asked`, other: `${ofOther}-asked` });
    await own.mqtt.subscribeAsync(topic, { qos: 1 });
    expect(await answerTo(other, topic)).toBe(NO_MATCHING_SUBSCRIBERS);
    expect(await answerTo(own, topic)).toBe(0);
  },

  'the events of its clients': async (tenancy) => {
    const clientId = unique('c');
    const [own, other] = await both(tenancy);
    for (const { mqtt } of [own, other]) await mqtt.subscribeAsync(CLIENT_EVENTS, { qos: 1 });
    const seen = await connect(tenancy, tenancy.own, { clientId });
    await seen.mqtt.endAsync();
    const eventsOf = ({ received }: Program) =>
      received.flatMap(({ topic }) => (topic.includes(`/${clientId}/`) ? [topic.split('/').at(-1)] : []));
    await vi.waitFor(() => expect(eventsOf(own)).toEqual(['connected', 'disconnected']), PATIENCE);
    await tenancy.delivered();
    await other.roundTrip();
    expect(eventsOf(other)).toEqual([]);
  },

  'a client identifier and a user name that are made of its own': async (tenancy) => {
    const clientId = await waiting(tenancy);
    for (const separator of SEPARATORS) {
      const forged = `${tenancy.own}${separator}${clientId}`;
      const username = `${tenancy.other}/${forged.replaceAll('/', '%2F')}`;
      const other = await connect(tenancy, tenancy.other, { ...KEPT, clientId: forged, username });
      expect(other.isSessionPresent).toBe(false);
      await other.expectNothing();
      await other.mqtt.endAsync(false, { properties: { sessionExpiryInterval: 0 } });
    }
    await expectWaited(tenancy, clientId);
  },

  'a room of the same name, its members and their number': async (tenancy) => {
    const room = unique('room');
    const [own, other] = await both(tenancy);
    await own.mqtt.publishAsync(`$presence/${room}/ann`, 'of the own', { qos: 1 });
    await tenancy.delivered();
    for (const { mqtt } of [own, other])
      await mqtt.subscribeAsync([`$presence/${room}/+`, `$occupancy/${room}`], { qos: 1 });
    await own.expectInAnyOrder(['1', 'of the own']);
    // The member count of an empty room.
    await other.expectInAnyOrder(['0']);
    await other.mqtt.publishAsync(`$presence/${room}/ann`, 'of the other', { qos: 1 });
    await other.expectInAnyOrder(['0', '1', 'of the other']);
    await other.mqtt.publishAsync(`$presence/${room}/ann`, '', { qos: 1 });
    await tenancy.delivered();
    await own.roundTrip();
    await own.expectInAnyOrder(['1', 'of the own', 'round trip']);
  },

  'the history of a stream, and a position in it': async (tenancy) => {
    const topic = unique('chat/room');
    const [own, other] = await both(tenancy);
    for (const text of ['one', 'two']) await own.mqtt.publishAsync(topic, text, { qos: 1 });
    await own.mqtt.subscribeAsync(topic, { qos: 1, properties: fromTheBeginning });
    await own.expectPayloads(['one', 'two']);
    const position = userPropertyOf(own.received[0], 'stream-position');
    await other.mqtt.subscribeAsync(topic, { qos: 1, properties: fromTheBeginning });
    await other.expectNothing();
    await other.mqtt.subscribeAsync(topic, {
      qos: 1,
      properties: { userProperties: { 'stream-position': position } },
    });
    await other.expectNothing();
    await other.mqtt.publishAsync(topic, 'first', { qos: 1 });
    await tenancy.delivered();
    const first = other.received.find(({ payload }) => payload.toString() === 'first');
    expect(userPropertyOf(first, 'stream-position')).toMatch(/-1$/);
    expect(own.payloads).toEqual(['one', 'two']);
  },
};

const PATIENCE = { timeout: 30_000, interval: 20 };

const fromTheBeginning = { userProperties: { 'stream-offset': 'earliest' } };

async function answerTo({ mqtt }: Program, topic: string): Promise<number> {
  const answered = new Promise<number>((resolve) => {
    const look = (packet: Packet) => {
      if (packet.cmd !== 'puback') return;
      mqtt.off('packetreceive', look);
      resolve(packet.reasonCode ?? 0);
    };
    mqtt.on('packetreceive', look);
  });
  await mqtt.publishAsync(topic, 'x', { qos: 1 });
  return await answered;
}

function userPropertyOf(packet: Program['received'][number] | undefined, name: string): string {
  const properties = packet?.properties?.userProperties as Readonly<Record<string, string>> | undefined;
  return properties?.[name] ?? '';
}

export async function connect(
  { connectMqtt }: Tenancy,
  tenant: string,
  options: IClientOptions = {},
): Promise<Program> {
  return await new Program(connectMqtt, tenant, { clientId: unique('c'), ...options }).connected();
}

async function both(tenancy: Tenancy): Promise<readonly [Program, Program]> {
  return [await connect(tenancy, tenancy.own), await connect(tenancy, tenancy.other)];
}

/** A client that is away, with a queued message. Returns its identifier. */
async function waiting(tenancy: Tenancy): Promise<string> {
  const [topic, clientId] = [unique('t'), unique('c')];
  const away = await connect(tenancy, tenancy.own, { ...KEPT, clientId });
  await away.mqtt.subscribeAsync(topic, { qos: 1 });
  await away.mqtt.endAsync();
  const publisher = await connect(tenancy, tenancy.own);
  await publisher.mqtt.publishAsync(topic, 'waits', { qos: 1 });
  return clientId;
}

/** The client is back, and its message has waited. */
async function expectWaited(tenancy: Tenancy, clientId: string): Promise<void> {
  const back = await connect(tenancy, tenancy.own, { ...KEPT, clientId });
  expect(back.isSessionPresent).toBe(true);
  await back.expectPayloads(['waits']);
}
