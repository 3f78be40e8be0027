import { type Authenticator, type Rule, rulesAuthorizer } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { unique } from '../support/unique.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import type { Message, TestClient } from './util/test-client.ts';
import { elapse } from './util/time.ts';

const NOT_AUTHORIZED = 0x87;
const TOPIC_NAME_INVALID = 0x90;
const QUOTA_EXCEEDED = 0x97;

/** Long enough for a client of a test to come back before it is over. */
const GRACE_SECONDS = 2;

const topicOf = (room: string, member: string): string => `$presence/${room}/${member}`;

/** `ann=here`, `ann=` where ann has left; with a star where it was there before the watcher came. */
function summary({ topic, payload, retain }: Message): string {
  return `${topic.split('/').at(-1)}=${payload}${retain ? '*' : ''}`;
}

const summaries = async (client: TestClient, count: number): Promise<string[]> =>
  (await client.receiveMany(count)).map(summary);

const enter = (client: TestClient, room: string, member: string, data = 'here') =>
  client.publish(topicOf(room, member), data, { qos: 1 });

describe(withOptions('A room'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ presenceGraceSeconds: GRACE_SECONDS });

  async function watcherOf(room: string, options = {}): Promise<TestClient> {
    const watcher = await door.connect();
    expect(await watcher.subscribe(`$presence/${room}/+`, options)).toEqual([0]);
    return watcher;
  }

  it('tells its watchers its members, then joins, changes and leaves', async () => {
    const room = unique('r');
    const [ann, bob] = [await door.connect(), await door.connect()];
    expect(await enter(ann, room, 'ann')).toMatchObject({ reasonCode: 0 });
    const watcher = await watcherOf(room);
    expect(await summaries(watcher, 1)).toEqual(['ann=here*']);
    await enter(bob, room, 'bob', 'typing');
    await enter(ann, room, 'ann', 'away');
    await enter(bob, room, 'bob', '');
    expect(await summaries(watcher, 3)).toEqual(['bob=typing', 'ann=away', 'bob=']);
    const newcomer = await watcherOf(room);
    expect(await summaries(newcomer, 1)).toEqual(['ann=away*']);
    await newcomer.expectNothing();
  });

  it('is left at once by a client that sends DISCONNECT, and watchers are told once', async () => {
    const room = unique('r');
    const ann = await door.connect();
    await enter(ann, room, 'ann');
    const watcher = await watcherOf(room);
    await ann.disconnect();
    expect(await summaries(watcher, 2)).toEqual(['ann=here*', 'ann=']);
    await elapse(GRACE_SECONDS + 0.5);
    await watcher.expectNothing();
  });

  it('is left by a lost client after the grace, and watchers are told once', async () => {
    const room = unique('r');
    const ann = await door.connect();
    await enter(ann, room, 'ann');
    const watcher = await watcherOf(room);
    const lostAtMs = Date.now();
    ann.raw.close();
    expect(await summaries(watcher, 2)).toEqual(['ann=here*', 'ann=']);
    expect(Date.now() - lostAtMs).toBeGreaterThan(GRACE_SECONDS * 1000 - 100);
    await watcher.expectNothing();
  });

  it('waits for the Will Delay Interval of a lost client', async () => {
    const room = unique('r');
    const will = {
      topic: unique('w'),
      payload: 'x',
      qos: 0,
      properties: { willDelayInterval: GRACE_SECONDS + 2 },
    };
    const ann = await door.connect({ will, properties: { sessionExpiryInterval: 60 } });
    await enter(ann, room, 'ann');
    const watcher = await watcherOf(room);
    expect(await summaries(watcher, 1)).toEqual(['ann=here*']);
    ann.raw.close();
    await elapse(GRACE_SECONDS + 1);
    await watcher.expectNothing();
    expect(await summaries(watcher, 1)).toEqual(['ann=']);
  });

  it('does not change when a client resumes its session', async () => {
    const room = unique('r');
    const clientId = unique('ann');
    const ann = await door.resume(clientId);
    await enter(ann, room, 'ann');
    const watcher = await watcherOf(room);
    expect(await summaries(watcher, 1)).toEqual(['ann=here*']);
    ann.raw.close();
    const back = await door.resume(clientId);
    expect(back.connack.sessionPresent).toBe(true);
    await elapse(GRACE_SECONDS + 0.5);
    await watcher.expectNothing();
    await back.disconnect();
    expect(await summaries(watcher, 1)).toEqual(['ann=']);
  });

  it('does not change at a take-over by a client that joins again', async () => {
    const room = unique('r');
    const clientId = unique('ann');
    await enter(await door.connect({ clientId }), room, 'ann');
    const watcher = await watcherOf(room);
    expect(await summaries(watcher, 1)).toEqual(['ann=here*']);
    await enter(await door.connect({ clientId }), room, 'ann');
    await elapse(GRACE_SECONDS + 0.5);
    await watcher.expectNothing();
  });

  it('is left after the grace by a client that was taken over and does not join again', async () => {
    const room = unique('r');
    const clientId = unique('ann');
    await enter(await door.connect({ clientId }), room, 'ann');
    const watcher = await watcherOf(room);
    await door.connect({ clientId });
    expect(await summaries(watcher, 2)).toEqual(['ann=here*', 'ann=']);
  });

  it('keeps a member that several connections own until the last has gone', async () => {
    const room = unique('r');
    const [tab, other] = [await door.connect(), await door.connect()];
    const watcher = await watcherOf(room);
    await enter(tab, room, 'ann');
    await enter(other, room, 'ann');
    await tab.disconnect();
    await other.publish(topicOf(room, 'ann'), 'still', { qos: 1 });
    expect(await summaries(watcher, 2)).toEqual(['ann=here', 'ann=still']);
    await other.disconnect();
    expect(await summaries(watcher, 1)).toEqual(['ann=']);
  });

  it('is not left by a connection that has not made the member present', async () => {
    const room = unique('r');
    const [ann, other] = [await door.connect(), await door.connect()];
    await enter(ann, room, 'ann');
    const watcher = await watcherOf(room);
    expect(await enter(other, room, 'ann', '')).toMatchObject({ reasonCode: 0 });
    expect(await summaries(watcher, 1)).toEqual(['ann=here*']);
    await watcher.expectNothing();
  });

  it('does not tell watchers of data that have not changed', async () => {
    const room = unique('r');
    const ann = await door.connect();
    const watcher = await watcherOf(room);
    await enter(ann, room, 'ann');
    await enter(ann, room, 'ann');
    await enter(ann, room, 'ann', 'away');
    expect(await summaries(watcher, 2)).toEqual(['ann=here', 'ann=away']);
  });

  it('treats messages with RETAIN and without alike', async () => {
    const room = unique('r');
    const ann = await door.connect();
    const watcher = await watcherOf(room, { rap: true });
    await ann.publish(topicOf(room, 'ann'), 'here', { qos: 1, retain: true });
    expect(await summaries(watcher, 1)).toEqual(['ann=here']);
    await ann.disconnect();
    expect(await summaries(watcher, 1)).toEqual(['ann=']);
    await (await watcherOf(room)).expectNothing();
  });

  it('keeps the properties of a member’s message, but not its Message Expiry Interval', async () => {
    const room = unique('r');
    const ann = await door.connect();
    const properties = { contentType: 'text/x', userProperties: { color: 'red' }, messageExpiryInterval: 1 };
    await ann.publish(topicOf(room, 'ann'), 'here', { qos: 1, properties });
    const message = await (await watcherOf(room)).receive();
    expect(message.properties).toMatchObject({ contentType: 'text/x', userProperties: { color: 'red' } });
    expect(message.properties.messageExpiryInterval).toBeUndefined();
  });

  it('tells a watcher of one member about that member only', async () => {
    const room = unique('r');
    const [ann, bob] = [await door.connect(), await door.connect()];
    const watcher = await door.connect();
    await watcher.subscribe(topicOf(room, 'ann'));
    await enter(bob, room, 'bob');
    await enter(ann, room, 'ann');
    expect(await summaries(watcher, 1)).toEqual(['ann=here']);
    await watcher.expectNothing();
  });

  it('has members and watchers of MQTT 3.1.1', async () => {
    const room = unique('r');
    const [ann, watcher] = [await door.connect311(), await door.connect311()];
    await watcher.subscribe(`$presence/${room}/+`);
    await enter(ann, room, 'ann');
    expect(await summaries(watcher, 1)).toEqual(['ann=here']);
    await ann.disconnect();
    expect(await summaries(watcher, 1)).toEqual(['ann=']);
  });

  it('takes members at QoS 0 and QoS 2 as well', async () => {
    const room = unique('r');
    const ann = await door.connect();
    const watcher = await watcherOf(room);
    await ann.publish(topicOf(room, 'ann'), 'zero');
    await ann.publish(topicOf(room, 'ann'), 'two', { qos: 2 });
    expect(await summaries(watcher, 2)).toEqual(['ann=zero', 'ann=two']);
  });

  it('counts its members in $occupancy/ROOM', async () => {
    const room = unique('r');
    const [ann, bob, watcher] = [await door.connect(), await door.connect(), await door.connect()];
    await watcher.subscribe(`$occupancy/${room}`);
    await enter(ann, room, 'ann');
    await enter(bob, room, 'bob');
    await enter(ann, room, 'ann', 'away');
    await bob.disconnect();
    const told = (await watcher.receiveMany(4)).map(({ payload }) => payload);
    expect(told).toEqual(['0', '1', '2', '1']);
    const newcomer = await door.connect();
    await newcomer.subscribe(`$occupancy/${room}`);
    expect(await newcomer.receive()).toMatchObject({ payload: '1', retain: true });
  });

  it.each([
    '$presence',
    '$presence/r',
    '$presence/r/',
    '$presence//ann',
    '$presence/r/ann/x',
    '$presence/r/a/',
  ])('refuses a message to %s, which names no member', async (topic) => {
    const ann = await door.connect();
    expect(await ann.publish(topic, 'here', { qos: 1 })).toMatchObject({ reasonCode: TOPIC_NAME_INVALID });
  });

  it('refuses a member that is a wildcard, as every topic [MQTT-3.3.2-2]', async () => {
    const ann = await door.connect();
    ann.sendPublish('$presence/r/+', 'here', { qos: 1 });
    await ann.expectRefused(TOPIC_NAME_INVALID);
  });

  it('refuses a will for a member, with a reason', async () => {
    const will = { topic: '$presence/r/ann', payload: 'here', qos: 0 };
    await expect(door.connect({ will })).rejects.toThrow();
  });

  it('lets no client publish its number of members', async () => {
    const ann = await door.connect();
    const answer = await ann.publish('$occupancy/r', '1000000', { qos: 1 });
    expect(answer).toMatchObject({ reasonCode: NOT_AUTHORIZED });
  });

  it('is not reached by # or +/+/+', async () => {
    const ann = await door.connect();
    const watcher = await door.connect();
    await watcher.subscribe(['#', '+/+/+']);
    await enter(ann, unique('r'), 'ann');
    await watcher.expectNothing();
  });
});

describe(withOptions('A room of many members'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ presenceRoomsPerIdentityMax: 2_000, presenceRoomsPerSessionMax: 2_000 });

  it('is told to a newcomer in pages, each member once', async () => {
    const room = unique('r');
    const crowd = await door.connect();
    for (let index = 0; index < 500; index += 1) crowd.sendPublish(topicOf(room, `m${index}`), 'here');
    await crowd.ping();
    const watcher = await door.connect();
    await watcher.subscribe(`$presence/${room}/+`);
    const members = new Set((await watcher.receiveMany(500)).map(({ topic }) => topic));
    expect(members.size).toBe(500);
    await watcher.expectNothing();
  });
});

describe(withOptions('Limits of rooms'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({
    presenceMembersMax: 3,
    presenceBytesMax: 100,
    presenceRoomsPerSessionMax: 4,
    presenceRoomsPerIdentityMax: 1_000,
    presenceOwnersMax: 2,
  });

  it('refuse a member when the room is full, until one leaves', async () => {
    const room = unique('r');
    const clients: TestClient[] = [];
    for (let index = 0; index < 4; index += 1) clients.push(await door.connect());
    const codes: unknown[] = [];
    for (const [index, client] of clients.entries())
      codes.push((await enter(client, room, `m${index}`))?.reasonCode);
    expect(codes).toEqual([0, 0, 0, QUOTA_EXCEEDED]);
    await enter(clients[0] as TestClient, room, 'm0', '');
    expect(await enter(clients[3] as TestClient, room, 'm3')).toMatchObject({ reasonCode: 0 });
  });

  it('refuse data that are too large, in properties too', async () => {
    const room = unique('r');
    const ann = await door.connect();
    expect(await enter(ann, room, 'ann', 'x'.repeat(100))).toMatchObject({ reasonCode: 0 });
    expect(await enter(ann, room, 'ann', 'x'.repeat(101))).toMatchObject({ reasonCode: QUOTA_EXCEEDED });
    const properties = { userProperties: { x: 'x'.repeat(101) } };
    const answer = await ann.publish(topicOf(room, 'ann'), '', { qos: 1, properties });
    expect(answer).toMatchObject({ reasonCode: QUOTA_EXCEEDED });
  });

  it('refuse a topic of more than 1,024 bytes: the rooms of a session stand in one item', async () => {
    const ann = await door.connect();
    const room = 'é'.repeat((1_024 - topicOf('', 'ann').length) / 2 - 1);
    expect(await enter(ann, `${room}é`, 'ann')).toMatchObject({ reasonCode: 0 });
    expect(await enter(ann, `${room}éé`, 'ann')).toMatchObject({ reasonCode: TOPIC_NAME_INVALID });
  });

  it('stop a loop that joins a million rooms at its first ones', async () => {
    const loop = await door.connect();
    const prefix = unique('r');
    const codes: unknown[] = [];
    for (let index = 0; index < 8; index += 1)
      codes.push((await enter(loop, `${prefix}-${index}`, 'loop'))?.reasonCode);
    expect(codes).toEqual([0, 0, 0, 0, ...Array(4).fill(QUOTA_EXCEEDED)]);
    await enter(loop, `${prefix}-0`, 'loop', '');
    expect(await enter(loop, `${prefix}-7`, 'loop')).toMatchObject({ reasonCode: 0 });
  });

  it('refuse a further connection for a member that has as many as it may', async () => {
    const room = unique('r');
    const codes: unknown[] = [];
    for (let index = 0; index < 3; index += 1)
      codes.push((await enter(await door.connect(), room, 'ann'))?.reasonCode);
    expect(codes).toEqual([0, 0, QUOTA_EXCEEDED]);
  });
});

/** The rights of each name of these tests. */
const RULES: Readonly<Record<string, readonly Rule[]>> = {
  everything: [{ effect: 'allow', action: 'all', topicFilters: ['#'] }],
  byclient: [{ effect: 'allow', action: 'all', topicFilters: ['$presence/+/%c'] }],
  byname: [
    { effect: 'allow', action: 'publish', topicFilters: ['$presence/+/%u'] },
    { effect: 'allow', action: 'subscribe', topicFilters: ['$presence/+/+', '$occupancy/+'] },
  ],
  mallory: [{ effect: 'allow', action: 'all', topicFilters: ['$presence/+/%u', '$presence/+/%c', 'chat/#'] }],
};

/** Believes every name. */
const authenticator: Authenticator = {
  authenticate: ({ username = '' }) => ({ tenant: 'default', name: username, rules: RULES[username] ?? [] }),
};

describe(withOptions('Rules of rooms'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ authenticator, authorizer: rulesAuthorizer, presenceRoomsPerIdentityMax: 3 });

  const clientOf = (username: string, clientId = `${username}-${unique('c')}`) =>
    door.connect({ username, clientId });

  it('keep a client with a valid token from joining as the member of another', async () => {
    const room = unique('r');
    const watcher = await clientOf('byname');
    await watcher.subscribe(`$presence/${room}/+`);
    const mallory = await clientOf('mallory');
    expect(await enter(mallory, room, 'byname')).toMatchObject({ reasonCode: NOT_AUTHORIZED });
    expect(await enter(mallory, room, 'byname', '')).toMatchObject({ reasonCode: NOT_AUTHORIZED });
    await watcher.expectNothing();
    expect(await enter(mallory, room, 'mallory')).toMatchObject({ reasonCode: 0 });
    expect(await summaries(watcher, 1)).toEqual(['mallory=here']);
  });

  it('bind a member to a client identifier that is bound to its name', async () => {
    const room = unique('r');
    const own = await clientOf('byclient', 'byclient-phone');
    expect(await enter(own, room, 'byclient-phone')).toMatchObject({ reasonCode: 0 });
    const thief = await clientOf('mallory', 'victim');
    expect(await enter(thief, room, 'victim')).toMatchObject({ reasonCode: NOT_AUTHORIZED });
  });

  it('do not replace a placeholder by a client identifier of several levels', async () => {
    const client = await clientOf('byclient', 'byclient-a/b');
    expect(await enter(client, unique('r'), 'byclient-a/b')).toMatchObject({ reasonCode: NOT_AUTHORIZED });
  });

  it('need a rule of their own: # allows no topic of rooms', async () => {
    const client = await clientOf('everything');
    expect(await enter(client, 'r', 'everything')).toMatchObject({ reasonCode: NOT_AUTHORIZED });
    expect(await client.subscribe(['$presence/r/+', '$occupancy/r', '$presence/#'])).toEqual([
      NOT_AUTHORIZED,
      NOT_AUTHORIZED,
      NOT_AUTHORIZED,
    ]);
  });

  it('bound the rooms that all connections of one name are in', async () => {
    const prefix = unique('r');
    const codes: unknown[] = [];
    for (let index = 0; index < 4; index += 1)
      codes.push((await enter(await clientOf('byname'), `${prefix}-${index}`, 'byname'))?.reasonCode);
    expect(codes).toEqual([0, 0, 0, QUOTA_EXCEEDED]);
  });
});
