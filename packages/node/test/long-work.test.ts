import { ReasonCode } from '@apus/mqtt';
import { expect, test, vi } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { LongWork } from '../src/long-work.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

const TOPICS = 2_000;
const FILTERS = 100;

test('filters that lead through all retained messages go on in turns, between the packets of others [SEC-WORK-2]', async () => {
  const clock = new FakeScheduler();
  const node = await nodeForTest({ clock, quotas: { identity: {}, tenant: {} } });
  const { client: honest } = await RawClient.connect(node.url);
  const publish = async (topic: string, payload: string) => {
    const packetId = 1;
    honest.send({ cmd: 'publish', topic, payload, qos: 1, dup: false, retain: true, messageId: packetId });
    expect(await honest.expect('puback')).toMatchObject({ messageId: packetId });
  };
  for (let index = 0; index < TOPICS; index += 1) await publish(`a/${index}/x/y`, 'kept');
  const { client: greedy } = await RawClient.connect(node.url);
  const filters = Array.from({ length: FILTERS }, (_, index) => `a/+/+/n${index}`);
  const subscriptions = [...filters, 'a/7/x/y'].map((topic) => ({ topic, qos: 0 as const }));
  greedy.send({ cmd: 'subscribe', messageId: 1, subscriptions });
  expect((await greedy.expect('suback')).granted).toEqual(Array(FILTERS + 1).fill(ReasonCode.Success));
  // No time passes: the work waits, and packets do not.
  await greedy.expectNothing();
  await publish('b', 'served');
  for (let turns = 0; turns < 4; turns += 1) {
    clock.advance(5);
    await greedy.expectNothing();
  }
  clock.advance(20);
  expect(await greedy.expect('publish')).toMatchObject({ topic: 'a/7/x/y', retain: true });
});

test('a filter whose turn has not come is noted: a client that comes back is sent its retained messages', async () => {
  const clock = new FakeScheduler();
  const node = await nodeForTest({ clock, quotas: { identity: {}, tenant: {} } });
  const { client: honest } = await RawClient.connect(node.url);
  for (let index = 0; index < TOPICS; index += 1)
    honest.send({
      cmd: 'publish',
      topic: `a/${index}/x/y`,
      payload: 'kept',
      qos: 0,
      dup: false,
      retain: true,
    });
  const kept = { clientId: 'kept', clean: false, properties: { sessionExpiryInterval: 60 } };
  const { client: first } = await RawClient.connect(node.url, kept);
  const subscribe = async (messageId: number, ...filters: readonly string[]) => {
    first.send({ cmd: 'subscribe', messageId, subscriptions: filters.map((topic) => ({ topic, qos: 0 })) });
    await first.expect('suback');
  };
  await subscribe(1, ...Array.from({ length: FILTERS }, (_, index) => `a/+/+/n${index}`));
  await subscribe(2, 'a/7/x/y');
  first.close();
  await first.expectClose();
  const { client: second } = await RawClient.connect(node.url, kept);
  for (let turn = 0; turn < 10; turn += 1) clock.advance(5);
  expect(await second.expect('publish')).toMatchObject({ topic: 'a/7/x/y', retain: true });
});

test('a client that subscribes again before its turn has no more work than one that has not [SEC-GROWTH-1]', async () => {
  const clock = new FakeScheduler();
  const node = await nodeForTest({ clock, quotas: { identity: {}, tenant: {} } });
  const { client: honest } = await RawClient.connect(node.url);
  for (let index = 0; index < TOPICS; index += 1)
    honest.send({
      cmd: 'publish',
      topic: `a/${index}/x/y`,
      payload: 'kept',
      qos: 0,
      dup: false,
      retain: true,
    });
  const { client: greedy } = await RawClient.connect(node.url);
  const filters = Array.from({ length: FILTERS }, (_, index) => `a/+/+/n${index}`);
  const subscriptions = [...filters, 'a/7/x/y'].map((topic) => ({ topic, qos: 0 as const }));
  for (let messageId = 1; messageId <= 5; messageId += 1) {
    greedy.send({ cmd: 'subscribe', messageId, subscriptions });
    await greedy.expect('suback');
  }
  for (let turn = 0; turn < 100; turn += 1) {
    clock.advance(5);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await greedy.expect('publish')).toMatchObject({ topic: 'a/7/x/y', retain: true });
  await greedy.expectNothing();
});

test('identities take turns: many links of one do not delay the first one of another [SEC-GROWTH-3]', () => {
  const clock = new FakeScheduler();
  const work = new LongWork(clock);
  const served: string[] = [];
  for (let link = 1; link <= 100; link += 1) work.add(() => served.push(`greedy ${link}`), 'greedy');
  work.add(() => served.push('other'), 'other');
  clock.advance(10);
  expect(served).toEqual(['greedy 1', 'other']);
  clock.advance(5 * 99);
  expect(served.length).toBe(101);
});

test('a link that has ended has no turn [SEC-GROWTH-3]', async () => {
  const clock = new FakeScheduler();
  const node = await nodeForTest({ clock, quotas: { identity: {}, tenant: {} } });
  const connections = async () => {
    const answer = await fetch(new URL('/api/v5/stats', node.httpUrl));
    const [stats] = (await answer.json()) as [Record<string, number>];
    return stats['connections.count'];
  };
  const { client: honest } = await RawClient.connect(node.url);
  for (let index = 0; index < TOPICS; index += 1)
    honest.send({
      cmd: 'publish',
      topic: `a/${index}/x/y`,
      payload: 'kept',
      qos: 0,
      dup: false,
      retain: true,
    });
  const subscriptions = Array.from({ length: 20 }, (_, index) => ({
    topic: `a/+/+/n${index}`,
    qos: 0 as const,
  }));
  for (let count = 0; count < 20; count += 1) {
    const { client } = await RawClient.connect(node.url);
    client.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    await client.expect('suback');
    client.close();
  }
  await vi.waitFor(async () => expect(await connections()).toBe(1));
  const last = [...subscriptions, { topic: 'a/7/x/y', qos: 0 as const }];
  honest.send({ cmd: 'subscribe', messageId: 1, subscriptions: last });
  await honest.expect('suback');
  // The timer of the first link stands, and its turn is the honest one's.
  clock.advance(10);
  expect(await honest.expect('publish')).toMatchObject({ topic: 'a/7/x/y', retain: true });
});

test('the filters of one packet are looked at in turns, between the packets of others [SEC-WORK-10]', async () => {
  let looked = 0;
  let lookedAtPublish: number | undefined;
  const authorizer = {
    maySubscribe: () => {
      looked += 1;
      if (looked === 1) honest.send({ cmd: 'publish', topic: 'b', payload: '', qos: 1, messageId: 1 });
      return true;
    },
    mayPublish: () => {
      lookedAtPublish = looked;
      return true;
    },
  };
  const node = await nodeForTest({ authorizer });
  const { client: honest } = await RawClient.connect(node.url);
  const { client: greedy } = await RawClient.connect(node.url, { clientId: 'greedy' });
  const filters = Array.from({ length: 9_900 }, (_, index) => `a/${index}`);
  const granted = filters.map(() => ReasonCode.Success);
  greedy.send({ cmd: 'subscribe', messageId: 1, subscriptions: filters.map((topic) => ({ topic, qos: 0 })) });
  expect((await greedy.expect('suback')).granted).toEqual(granted);
  expect(lookedAtPublish).toBeLessThan(filters.length);
  greedy.send({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: [...filters, 'none'] });
  expect((await greedy.expect('unsuback')).granted).toEqual([...granted, ReasonCode.NoSubscriptionExisted]);
});
