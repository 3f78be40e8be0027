import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authenticator, rulesOfLists, TURN_MS_MAX } from '@apus/broker';
import mqtt from 'mqtt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type NodeOptions, type RunningNode, startNode } from '../src/index.ts';
import { call } from './support/call-api.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';
import { scrape } from './support/scrape.ts';

/** Of messages that fill the room of others. */
const DELAY_SECONDS = 60;

async function clientOf({ url }: RunningNode, options: mqtt.IClientOptions = {}) {
  const client = await mqtt.connectAsync(url, { protocolVersion: 5, ...options });
  onTestFinished(async () => void (await client.endAsync(true)));
  return client;
}

async function reading(node: RunningNode) {
  const client = await clientOf(node);
  const arrived: string[] = [];
  client.on('message', (topic, payload, { retain }) =>
    arrived.push(`${topic} ${payload}${retain ? ' retained' : ''}`),
  );
  await client.subscribeAsync(['#', '$delayed/#'], { qos: 2, rap: true });
  return { client, arrived };
}

async function delaying(options: NodeOptions = {}) {
  const clock = (options.clock as FakeScheduler | undefined) ?? new FakeScheduler();
  const node = await nodeForTest({ ...options, clock });
  return { clock, node, ...(await reading(node)) };
}

describe('$delayed/SECONDS/TOPIC', () => {
  test('comes when it is due, in the order in which it is due', async () => {
    const { clock, client, arrived } = await delaying();
    await client.publishAsync('$delayed/10/a/b', 'ten', { qos: 1 });
    await client.publishAsync('$delayed/5/a/b', 'five', { qos: 2 });
    await client.publishAsync('a/b', 'now', { qos: 1 });
    clock.advance(4_999);
    await expect.poll(() => arrived).toEqual(['a/b now']);
    clock.advance(1);
    await expect.poll(() => arrived).toEqual(['a/b now', 'a/b five']);
    clock.advance(5_000);
    await expect.poll(() => arrived).toEqual(['a/b now', 'a/b five', 'a/b ten']);
  });

  test('keeps its order where many are due in the same ms, and the clock goes on between two looks', async () => {
    const clock = new FakeScheduler();
    const { client, arrived } = await delaying({ clock });
    const numbers = Array.from({ length: 60 }, (_, index) => String(index));
    const now = clock.now.bind(clock);
    let looks = 0;
    // A ms has passed at each third look.
    clock.now = () => now() + (looks++ % 3 === 0 ? 1 : 0);
    await Promise.all(numbers.map((text) => client.publishAsync('$delayed/5/a/b', text, { qos: 1 })));
    clock.advance(6_000);
    await expect.poll(() => arrived).toEqual(numbers.map((text) => `a/b ${text}`));
  });

  test('leaves in turns where many are due at once, in their order [SEC-WORK-6]', async () => {
    const clock = new FakeScheduler();
    const done: string[] = [];
    const mayPublish = () => {
      clock.spend(TURN_MS_MAX);
      done.push('a message');
      setImmediate(() => done.push('other work'));
      return true;
    };
    const { client, arrived } = await delaying({
      clock,
      authorizer: { mayPublish, maySubscribe: () => true },
    });
    for (const payload of ['1', '2', '3']) await client.publishAsync('$delayed/10/a', payload, { qos: 1 });
    done.length = 0;
    clock.advance(10_000 + 3 * TURN_MS_MAX);
    await expect.poll(() => arrived).toEqual(['a 1', 'a 2', 'a 3']);
    expect(done.slice(0, 4)).toEqual(['a message', 'other work', 'a message', 'other work']);
  });

  test('is retained when it is due, an empty payload removes, and properties come along', async () => {
    const { clock, client, arrived } = await delaying();
    await client.publishAsync('$delayed/1/a', 'x', { qos: 1, retain: true });
    await client.publishAsync('$delayed/2/a', '', { qos: 1, retain: true });
    clock.advance(1_000);
    await expect.poll(() => arrived).toEqual(['a x retained']);
    clock.advance(1_000);
    await expect.poll(() => arrived).toEqual(['a x retained', 'a  retained']);
  });

  test('that expires before does not come', async () => {
    const { clock, client, arrived } = await delaying();
    await client.publishAsync('$delayed/10/a', 'old', { qos: 1, properties: { messageExpiryInterval: 5 } });
    await client.publishAsync('$delayed/10/a', 'young', {
      qos: 1,
      properties: { messageExpiryInterval: 15 },
    });
    clock.advance(10_000);
    await expect.poll(() => arrived).toEqual(['a young']);
  });

  test.each(['$delayed/x/a', '$delayed/5/', '$delayed/5', '$delayed/4294968/a', '$delayed/5/$SYS/a'])(
    'is refused as %s (0x90)',
    async (topic) => {
      const { client } = await delaying();
      await expect(client.publishAsync(topic, 'x', { qos: 1 })).rejects.toMatchObject({ code: 0x90 });
    },
  );

  test('is charged to its publisher when it is delivered, and to its tenant', async () => {
    const quotas = { tenant: { deliveriesPerMinuteMax: 60_000 } };
    const { clock, node, client, arrived } = await delaying({ quotas });
    await reading(node);
    await client.publishAsync('$delayed/10/a', 'x', { qos: 1 });
    const used = async () => {
      const { body } = await call(node.httpUrl, '/quotas');
      const { data } = body as { readonly data: readonly Readonly<Record<string, unknown>>[] };
      return data.find(({ scope, name }) => scope === 'tenant' && name === 'deliveriesPerMinuteMax')?.used;
    };
    expect(await used()).toBe(0);
    clock.advance(10_000);
    await expect.poll(() => arrived).toEqual(['a x']);
    expect(await used()).toBe(2);
  });

  test('of one tenant leave others as much room, however many wait [SEC-TENANT-9]', async () => {
    const authenticator: Authenticator = {
      authenticate: ({ username = '' }) => ({
        tenant: username,
        name: 'ann',
        rules: rulesOfLists(['#'], ['#']),
      }),
    };
    const dataDirectory = mkdtempSync(join(tmpdir(), 'apus-delayed-'));
    onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
    const quotas = { identity: { delayedBytesMax: 0 } };
    const options = { authenticator, dataDirectory, quotas, logLevel: 'silent', port: 0 } as const;
    const as = (username: string) => ({ username, password: '-', reconnectPeriod: 0 });
    const large = Buffer.alloc(2_000_000);
    let node = await startNode(options);
    for (const time of ['first', 'after a restart']) {
      const greedy = await clientOf(node, as('greedy'));
      const fill = async () => {
        for (let count = 0; count < 40; count += 1)
          await greedy.publishAsync('$delayed/4000000/a', large, { qos: 1 });
      };
      await expect(fill(), time).rejects.toMatchObject({ code: 0x97 });
      const honest = await clientOf(node, as('honest'));
      for (let count = 0; count < 3; count += 1)
        await honest.publishAsync('$delayed/4000000/a', large, { qos: 1 });
      await Promise.all([greedy.endAsync(true), honest.endAsync(true)]);
      await node.stop();
      node = await startNode(options);
    }
    await node.stop();
  });

  /** Users of one tenant. */
  const users: Authenticator = {
    authenticate: ({ username = '' }) => ({
      tenant: 'default',
      name: username,
      rules: rulesOfLists(['#'], ['#']),
    }),
  };
  const named = (username: string) => ({ username, password: '-', reconnectPeriod: 0 });
  const fill = async (client: mqtt.MqttClient, count: number, payload: Buffer | string) => {
    for (let sent = 0; sent < count; sent += 1)
      await client.publishAsync(`$delayed/${DELAY_SECONDS}/a`, payload, { qos: 1 });
  };

  test('of one user leave the others of a tenant theirs, also after a restart [SEC-POOL-1]', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'apus-delayed-'));
    onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
    const large = Buffer.alloc(2_000_000);
    for (const time of ['first', 'after a restart']) {
      const node = await startNode({ authenticator: users, dataDirectory, logLevel: 'silent', port: 0 });
      const greedy = await clientOf(node, named('greedy'));
      await expect(fill(greedy, 40, large), time).rejects.toMatchObject({ code: 0x97 });
      const honest = await clientOf(node, named(`honest ${time}`));
      await fill(honest, 2, large);
      await Promise.all([greedy.endAsync(true), honest.endAsync(true)]);
      await node.stop();
    }
  });

  test('of a tenant take no more than what is left for others [SEC-POOL-1]', async () => {
    const authenticator: Authenticator = {
      authenticate: ({ username = '' }) => ({
        tenant: username,
        name: '',
        rules: rulesOfLists(['#'], ['#']),
      }),
    };
    const node = await nodeForTest({ authenticator, quotas: { identity: { delayedBytesMax: 0 } } });
    const large = Buffer.alloc(2_000_000);
    for (const tenant of ['one', 'two', 'three'])
      await expect(fill(await clientOf(node, named(tenant)), 40, large)).rejects.toMatchObject({
        code: 0x97,
      });
    await fill(await clientOf(node, named('four')), 1, large);
  });

  test('of a banned name give their room back, and do not come [SEC-POOL-2]', async () => {
    const clock = new FakeScheduler();
    const quotas = { identity: { delayedMessagesMax: 3 } };
    const apiKey = 'k'.repeat(32);
    const node = await nodeForTest({ clock, quotas, authenticator: users, apiKey });
    const greedy = await clientOf(node, named('greedy'));
    const honest = await clientOf(node, named('honest'));
    await fill(greedy, 3, 'x');
    await expect(fill(greedy, 1, 'x')).rejects.toMatchObject({ code: 0x97 });
    await fill(honest, 1, 'kept');
    const headers = { authorization: `Bearer ${apiKey}` };
    const waiting = async () => (await scrape(node.httpUrl, headers)).values.get('emqx_delayed_count');
    expect(await waiting()).toBe(4);
    await call(node.httpUrl, '/banned', 'POST', headers, { as: 'username', who: 'greedy' });
    expect(await waiting()).toBe(1);
    clock.advance(DELAY_SECONDS * 1_000);
    await expect.poll(waiting).toBe(0);
  });

  test('is on the disk before its publisher is answered', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'apus-delayed-'));
    onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
    const { clock, node, client } = await delaying({ dataDirectory });
    await client.publishAsync('$delayed/10/a', 'kept', { qos: 1 });
    await client.publishAsync('$delayed/20/a', 'later', { qos: 1 });
    await client.endAsync(true);
    await node.stop();
    const again = await nodeForTest({ clock, dataDirectory });
    const { arrived } = await reading(again);
    clock.advance(10_000);
    await expect.poll(() => arrived).toEqual(['a kept']);
    clock.advance(10_000);
    await expect.poll(() => arrived).toEqual(['a kept', 'a later']);
  });
});
