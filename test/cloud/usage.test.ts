import type { Cloud, CloudOptions } from '@apus/aws/lambda';
import { rulesAuthorizer, type UsageLine } from '@apus/broker';
import { connect as connectInTextFrames } from '@apus/client';
import type { DynamoDbFaults } from '@apus/emulated-aws';
import { createDynamoStores, leanClient } from '@apus/store-dynamodb';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualTime } from '../faults/virtual-time.ts';
import { tenantsByUsername } from '../support/tenants/program.ts';
import { SESSIONS_TABLE, TABLE } from './names.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

/** A machine that is busy may take its time; in virtual time it takes none. */
const TIMEOUT_MS = 240_000;
const MONTH = { from: '2026-01', to: '2026-02' } as const;

let time: VirtualTime;
let world: InProcessWorld;
/** Execution environments, in the order in which they began. */
const clouds: Cloud[] = [];
const clients: mqtt.MqttClient[] = [];
/** Writes of usage that DynamoDB was asked for. */
let writes: number;

beforeEach(() => {
  time = new VirtualTime(5);
  writes = 0;
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.end(true);
  clouds.length = 0;
  await time.advance(1_000);
  world.stop();
  time.restore();
  expect(world.failures).toEqual([]);
});

async function start({ usage = true, store = {} }: { usage?: boolean; store?: DynamoDbFaults } = {}) {
  world = await time.during(
    startCloudInProcess({
      seed: 5,
      usage,
      dynamoFaults: store,
      authenticator: tenantsByUsername,
      authorizer: rulesAuthorizer,
      // Some subscribers are in shards, and workers reach them.
      inlineSubscribersMax: 2,
      alterations: { cloud: (cloud) => void clouds.push(cloud), dynamo: countingWrites },
    }),
  );
}

function countingWrites(client: CloudOptions['dynamo']): CloudOptions['dynamo'] {
  return new Proxy(client, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (name !== 'send') return typeof value === 'function' ? value.bind(target) : value;
      return (command: { readonly input: { readonly Item?: { readonly p?: { readonly S?: string } } } }) => {
        if (command.input.Item?.p?.S?.startsWith('A\0') === true) writes += 1;
        return (value as (given: unknown) => unknown).call(target, command);
      };
    },
  });
}

const seconds = (count: number): Promise<void> => time.advance(count * 1_000);

function connect(tenant: string, clientId: string): mqtt.MqttClient {
  const client = connectInTextFrames(
    mqtt,
    world.url,
    { protocolVersion: 5, reconnectPeriod: 0, clientId, username: `${tenant}/${clientId}`, password: 'x' },
    { WebSocket: world.emulator.WebSocket, page: {} },
  );
  client.on('error', () => {});
  clients.push(client);
  return client;
}

/** Writes the counts that each environment still has, as if none had died. */
async function flushAll(): Promise<void> {
  const { usage: store } = createDynamoStores({
    client: leanClient(world.dynamoDb.clientConfig()),
    ...{ tableName: TABLE, sessionsTableName: SESSIONS_TABLE, clock: { now: () => Date.now() } },
  });
  await time.during(Promise.all(clouds.map((cloud) => cloud.usage?.flush(store))));
}

async function usage(question: Readonly<Record<string, string>> = {}): Promise<readonly UsageLine[]> {
  const query = `?${new URLSearchParams({ ...MONTH, ...question })}`;
  const { status, body } = await time.during(world.operate('GET', '/usage', { query }));
  expect(status).toBe(200);
  return (body as { readonly data: readonly UsageLine[] }).data;
}

const sum = (lines: readonly UsageLine[], ...fields: (keyof UsageLine)[]): number =>
  lines.reduce((all, line) => fields.reduce((one, field) => one + Number(line[field]), all), 0);

/** Two tenants publish at every QoS, one of them to a filter that workers serve. */
async function play(messages: number, everyMs: number): Promise<void> {
  const publishers = ['acme', 'globex'].map((tenant) => connect(tenant, `${tenant}-publisher`));
  for (let index = 0; index < 4; index += 1)
    for (const tenant of ['acme', 'globex']) {
      const subscriber = connect(tenant, `${tenant}-${index}`);
      if (tenant === 'acme' || index === 0)
        subscriber.on('connect', () => subscriber.subscribe('news', { qos: index === 0 ? 2 : 1 }));
    }
  await seconds(15);
  for (let index = 0; index < messages; index += 1) {
    const [acme, globex] = publishers;
    acme?.publish('news', 'x'.repeat(index), { qos: (index % 3) as 0 | 1 | 2 });
    if (index % 2 === 0) globex?.publish('news', 'y', { qos: 1 });
    await time.advance(everyMs);
  }
  await seconds(20);
  for (const client of clients.splice(0)) client.end();
  await seconds(20);
}

describe('usage of a deployment', () => {
  it(
    'adds up over tenants to what API Gateway is billed for, frames exactly and connections within 1 %',
    async () => {
      await start();
      await play(60, 500);
      await flushAll();
      const lines = await usage();
      const { messages, connections } = world.emulator.counters.snapshot();
      expect(lines.map(({ tenant }) => tenant)).toEqual(['acme', 'globex']);
      expect({
        in: sum(lines, 'framesIn'),
        out: sum(lines, 'framesOut'),
      }).toEqual({ in: messages.in.billed, out: messages.replies.billed + messages.posts.billed });
      const ms = sum(lines, 'connectionMs');
      expect(Math.abs(ms - connections.milliseconds) / connections.milliseconds).toBeLessThan(0.01);
    },
    TIMEOUT_MS,
  );

  it(
    'has the messages of each tenant, and deliveries by QoS',
    async () => {
      await start();
      await play(30, 1_000);
      await flushAll();
      const [acme, globex] = await usage();
      // 30 messages, ten of each QoS, to one subscriber at its own QoS and three at QoS 1 at most.
      expect(acme).toMatchObject({ tenant: 'acme', messagesIn: 30, messagesOutQos0: 40 });
      expect(acme).toMatchObject({ messagesOutQos1: 10 * 4 + 10 * 3, messagesOutQos2: 10 });
      expect(globex).toMatchObject({ messagesIn: 15, messagesOutQos0: 0, messagesOutQos1: 15 });
      expect(globex?.bytesOut).toBeGreaterThan(15 * 10);
      expect(await usage({ tenant: 'globex', by: 'day' })).toMatchObject([
        { tenant: 'globex', time: '2026-01-01', messagesIn: 15 },
      ]);
    },
    TIMEOUT_MS,
  );

  it(
    'is not counted twice if the answers of its writes are lost',
    async () => {
      const isUsage = ({ key }: { readonly key?: { readonly p?: { readonly S?: string } } }): boolean =>
        key?.p?.S?.startsWith('A\0') === true;
      let calls = 0;
      await start({ store: { answerLost: (call) => isUsage(call as never) && calls++ % 2 === 0 } });
      await play(30, 1_000);
      await flushAll();
      await flushAll();
      const lines = await usage();
      const { messages } = world.emulator.counters.snapshot();
      expect(calls).toBeGreaterThan(5);
      expect(sum(lines, 'framesIn')).toBe(messages.in.billed);
      expect(sum(lines, 'messagesIn')).toBe(45);
    },
    TIMEOUT_MS,
  );

  it(
    'of environments that die lacks at most their last ten seconds',
    async () => {
      await start();
      await play(60, 1_000);
      // Nothing is flushed: every environment has died.
      const lines = await usage();
      const missing = 90 - sum(lines, 'messagesIn');
      // Fifteen messages come in ten seconds.
      expect(missing).toBeGreaterThanOrEqual(0);
      expect(missing).toBeLessThanOrEqual(15 * clouds.length);
      expect(sum(lines, 'messagesIn')).toBeGreaterThan(60);
      // The report says so: ten seconds for each environment that has written counts of a tenant.
      expect(sum(lines, 'uncertainMs')).toBeGreaterThan(0);
      expect(sum(lines, 'uncertainMs')).toBeLessThanOrEqual(10_000 * clouds.length * 2);
    },
    TIMEOUT_MS,
  );

  it.each([
    ['end at one moment', 0],
    ['are lost, one after another', 150],
  ])(
    'of connections that %s lacks at most ten seconds of each environment that dies',
    async (_how, apartMs) => {
      await start();
      for (let index = 0; index < 40; index += 1) connect(index % 4 === 0 ? 'globex' : 'acme', `c-${index}`);
      await seconds(15);
      await seconds(1_800);
      for (const client of clients.splice(0)) {
        client.end(apartMs > 0);
        if (apartMs > 0) await time.advance(apartMs);
      }
      await seconds(60);
      // Nothing is flushed: every environment has died.
      const counted = sum(await usage(), 'connectionMs');
      const { milliseconds } = world.emulator.counters.snapshot().connections;
      expect(milliseconds).toBeGreaterThan(40 * 1_800_000);
      expect(milliseconds - counted).toBeLessThanOrEqual(10_000 * clouds.length);
      expect(counted).toBeLessThanOrEqual(milliseconds * 1.01);
    },
    TIMEOUT_MS,
  );

  it(
    'takes at most 0.01 write units a message of a tenant that sends ten a second through an environment',
    async () => {
      await start();
      const publisher = connect('acme', 'publisher');
      await seconds(5);
      const before = writes;
      for (let index = 0; index < 1_200; index += 1) {
        publisher.publish('news', 'x', { qos: 1 });
        await time.advance(100);
      }
      expect(writes - before).toBeGreaterThan(0);
      expect(writes - before).toBeLessThanOrEqual(1_200 * 0.01);
    },
    TIMEOUT_MS,
  );

  it(
    'is not counted, and costs no write, unless it is switched on',
    async () => {
      await start({ usage: false });
      await play(10, 1_000);
      expect(writes).toBe(0);
    },
    TIMEOUT_MS,
  );
});
