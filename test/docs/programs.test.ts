import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningDoors, startDoors } from '@apus/cli';
import { connect } from '@apus/client';
import { createFallback } from '@apus/client/fallback';
import { resume } from '@apus/client/resume';
import { openCluster } from '@apus/cluster';
import * as cost from '@apus/cost';
import * as emulator from '@apus/emulated-aws';
import { ApusBroker } from '@apus/infra';
import { startNode } from '@apus/node';
import * as publish from '@apus/publish';
import * as react from '@apus/react';
import { createDiskStores } from '@apus/store-disk';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Template } from 'aws-cdk-lib/assertions';
import { ComparisonOperator } from 'aws-cdk-lib/aws-cloudwatch';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { App, Stack } from 'aws-cdk-lib/core';
import { io, mqtt5 } from 'aws-iot-device-sdk-v2';
import { AwsV4Signer } from 'aws4fetch';
import mqtt, { type MqttClient } from 'mqtt';
import { createElement, Fragment } from 'react';
import { renderToString } from 'react-dom/server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { javascriptOf, PROGRAMS, run, type Surroundings } from './programs.ts';
import { exists } from './repository.ts';

/** The programs that another test runs. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md 1': 'packages/cli/test/readme.test.ts',
  'docs/streams.md 3': 'test/browser/event-source.test.ts',
  'infra/README.md 1': 'test/packages/tarballs.test.ts',
  'infra/README.md 3': 'test/packages/tarballs.test.ts',
  'loadtest/artillery-engine-mqtt/README.md 1': 'test/packages/tarballs.test.ts',
  'extensions/react/README.md 2': 'test/packages/tarballs.test.ts',
};

const NODE_URL = 'ws://127.0.0.1:8083/mqtt';
const GATEWAY_URL = 'ws://127.0.0.1:8084/mqtt';
const DEPLOYED_URL = 'wss://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com/mqtt';
const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };

let doors: RunningDoors;
let gatewayUrl: string;
let addresses: Readonly<Record<string, string>>;
let env: Readonly<Record<string, string>>;

/** Skipped where there is no engine. */
const OF_A_CLUSTER = 'extensions/cluster/README.md 1';
const ran = new Set([OF_A_CLUSTER]);

/** Runs a program of a page beside the broker of this file. */
async function pasted(id: string, surroundings: Surroundings = {}) {
  ran.add(id);
  const modules = {
    '@apus/client': { connect },
    '@apus/client/fallback': { createFallback },
    '@apus/client/resume': { resume },
    '@apus/emulated-aws': emulator,
    '@apus/emulator': emulator,
    '@apus/node': { startNode },
    '@apus/publish': publish,
    ...surroundings.modules,
  };
  return await run(id, { addresses, env, ...surroundings, modules });
}

/** A folder that ends with the test. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'apus-pages-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Of the door that the page of the program is about. */
const urlFor = (id: string) => (id.startsWith('packages/client/') ? gatewayUrl : doors.url);

/** A client of the node that has subscribed. */
async function watcher(filter: string) {
  const client = await mqtt.connectAsync(doors.url, { protocolVersion: 5 });
  onTestFinished(() => void client.end(true));
  const seen: string[] = [];
  client.on('message', (topic, payload) => seen.push(`${topic} ${payload}`));
  await client.subscribeAsync(filter, { qos: 1 });
  return { client, seen };
}

beforeAll(async () => {
  const streams = [{ name: 'chat', topicFilter: 'chat/#' }];
  doors = await startDoors({ port: 0, gatewayPort: 0, logLevel: 'silent', streams });
  gatewayUrl = doors.gateway?.url ?? '';
  addresses = { [NODE_URL]: doors.url, [GATEWAY_URL]: gatewayUrl, [DEPLOYED_URL]: gatewayUrl };
  env = { APUS_URL: new URL(doors.url).origin.replace('ws:', 'http:') };
});

afterAll(async () => await doors?.stop());

describe('a program of a page does what the page says', () => {
  it('README.md: the transport takes the place of mqtt.connect', async () => {
    const { shown } = await pasted('README.md 2', { shows: ['client'] });
    await expect((shown.client as MqttClient).subscribeAsync('a')).resolves.toHaveLength(1);
  });

  it('README.md: a backend publishes', async () => {
    const { seen } = await watcher('orders/7');
    await pasted('README.md 3');
    await expect.poll(() => seen).toEqual(['orders/7 {"state":"paid"}']);
  });

  it('README.md: a node in a program', async () => {
    const { lines } = await pasted('README.md 4');
    expect(lines).toEqual([expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/mqtt$/)]);
  });

  it('docs/for-agents.md: a program for both doors', async () => {
    const { lines } = await pasted('docs/for-agents.md 1');
    await expect.poll(() => lines).toEqual(['room/1 hello']);
  });

  it('docs/deploy.md: a client with a token', async () => {
    const fetchToken = async () => 'a.b.c';
    const { lines } = await pasted('docs/deploy.md 1', { scope: { fetchToken } });
    await expect.poll(() => lines).toEqual(['hello/world Hello, Apus']);
  });

  it('docs/deploy-settings.md: a backend publishes with credentials of AWS', async () => {
    vi.stubEnv('AWS_REGION', 'eu-west-1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { seen } = await watcher('orders/7');
    const modules = {
      '@aws-sdk/credential-providers': { fromNodeProviderChain: () => async () => CREDENTIALS },
    };
    await pasted('docs/deploy-settings.md 1', { modules });
    await expect.poll(() => seen).toEqual(['orders/7 {"state":"paid"}']);
  });

  it.each(['docs/deploy-settings.md 2', 'infra/README.md 2'])(
    '%s: a broker in an app of your own',
    async (id) => {
      const app = new App({ context: { 'aws:cdk:bundling-stacks': [] }, outdir: newFolder() });
      const stack = new Stack(app, 'Mine');
      const backend = new lambda.Function(stack, 'Backend', {
        runtime: lambda.Runtime.NODEJS_24_X,
        handler: 'index.handler',
        code: lambda.Code.fromInline('exports.handler = async () => {};'),
      });
      const scope = { stack, backend, onCall: new Topic(stack, 'OnCall'), ComparisonOperator, ApusBroker };
      await pasted(id, { scope, modules: { '@apus/infra': { ApusBroker } } });
      const template = Template.fromStack(stack);
      template.resourceCountIs('AWS::ApiGatewayV2::Api', 1);
      const policies = JSON.stringify(template.findResources('AWS::IAM::Policy'));
      expect(policies).toContain('"lambda:InvokeFunctionUrl"');
    },
  );

  it("docs/iot-core.md: AWS's SDK at a node", async () => {
    const { seen } = await watcher('things/lamp/state');
    const modules = { 'aws-iot-device-sdk-v2': { io, mqtt5 } };
    const own = { 'port: 8083': `port: ${new URL(doors.url).port}` };
    const { shown, lines } = await pasted('docs/iot-core.md 1', {
      modules,
      addresses: own,
      shows: ['client'],
    });
    const client = shown.client as mqtt5.Mqtt5Client;
    onTestFinished(() => new Promise<void>((resolve) => void client.on('stopped', () => resolve()).stop()));
    await pasted('docs/iot-core.md 3', { scope: { client, mqtt5 } });
    await expect.poll(() => seen).toEqual(['things/lamp/state {"on":true}']);
    const { client: other } = await watcher('nothing');
    await other.publishAsync('things/lamp/set', 'off', { qos: 1 });
    await expect.poll(() => lines).toEqual(['things/lamp/set off']);
    await pasted('docs/iot-core.md 2', { modules });
  });

  it('docs/presence.md: a member joins a room, and another one sees it', async () => {
    const client = mqtt.connect(doors.url, { protocolVersion: 5 });
    onTestFinished(() => void client.end(true));
    const { shown } = await pasted('docs/presence.md 2', { scope: { client }, shows: ['members'] });
    await pasted('docs/presence.md 1');
    await expect.poll(() => [...(shown.members as Map<string, string>)]).toEqual([['ann', 'typing']]);
  });

  describe.each(['docs/streams.md 1', 'docs/streams.md 2', 'packages/client/README.md 4'])('%s', (id) => {
    it('shows the history, and then what comes', async () => {
      const { client } = await watcher('nothing');
      await client.publishAsync('chat/room-7', id, { qos: 1 });
      const shown: string[] = [];
      const show = (payload: Buffer) => shown.push(payload.toString());
      await pasted(id, { scope: { show, reload: () => {}, url: urlFor(id), connect } });
      await expect.poll(() => shown.at(-1)).toBe(id);
      await client.publishAsync('chat/room-7', 'live', { qos: 1 });
      await expect.poll(() => shown.slice(-2)).toEqual([id, 'live']);
    });
  });

  it('packages/client: a program that keeps its position goes on after it', async () => {
    const { client: other } = await watcher('nothing');
    const scope = { url: gatewayUrl, connect };
    const { shown } = await pasted('packages/client/README.md 5', { scope, shows: ['client'] });
    const client = shown.client as MqttClient;
    const seen: string[] = [];
    client.on('message', (_topic, payload) => seen.push(payload.toString()));
    await new Promise((resolve) => client.once('packetreceive', resolve));
    for (const text of ['one', 'two']) await other.publishAsync('chat/room-7', text, { qos: 1 });
    await expect.poll(() => seen.slice(-2)).toEqual(['one', 'two']);
    client.stream.destroy();
    await other.publishAsync('chat/room-7', 'three', { qos: 1 });
    await expect.poll(() => seen.slice(-3), { timeout: 20_000 }).toEqual(['one', 'two', 'three']);
  });

  it('packages/client: the first program', async () => {
    const { lines } = await pasted('packages/client/README.md 1');
    await expect.poll(() => lines).toEqual(['greetings/hello world']);
  });

  it('packages/client: the wire behind any proxy', async () => {
    const { lines } = await pasted('packages/client/README.md 6');
    await expect.poll(() => lines).toEqual(['websocket']);
  });

  it('packages/client: addresses that a backend signs', async () => {
    const asked: unknown[] = [];
    const fetch = async (...args: unknown[]) => {
      asked.push(args);
      return { json: async () => ({ url: gatewayUrl }) };
    };
    const { shown } = await pasted('packages/client/README.md 2', {
      scope: { fetch, connect },
      shows: ['client'],
    });
    await expect((shown.client as MqttClient).subscribeAsync('a')).resolves.toHaveLength(1);
    expect(asked).toEqual([['/mqtt-url', { method: 'POST' }]]);
  });

  it('packages/client: addresses that the page signs', async () => {
    const scope = { AwsV4Signer, credentials: async () => CREDENTIALS };
    const { shown } = await pasted('packages/client/README.md 3', { scope, shows: ['signUrl'] });
    const signed = await (shown.signUrl as (url: string) => Promise<string>)(DEPLOYED_URL);
    expect(signed).toMatch(/^wss:\/\/a1b2c3d4e5\..*X-Amz-Signature=/);
  });

  it('extensions/cluster: a node of a cluster', needs('engine', engineOrSkip()), async () => {
    const engine = await startEngine(engineOrSkip());
    onTestFinished(() => engine.stop());
    const scope = {
      startNode: (options: object) => startNode({ port: 0, logLevel: 'silent', ...options }),
      openCluster,
    };
    const more = { 'redis://127.0.0.1:6379': engine.url };
    const { shown } = await pasted(OF_A_CLUSTER, {
      scope,
      addresses: more,
      shows: ['node'],
    });
    const node = shown.node as Awaited<ReturnType<typeof startNode>>;
    expect(node.url).toContain('ws://');
    await node.stop();
  });

  it('extensions/cost: an estimate', async () => {
    const { shown } = await pasted('extensions/cost/README.md 1', { scope: { ...cost }, shows: ['usage'] });
    expect(cost.billOf(shown.usage as Parameters<typeof cost.billOf>[0]).usd).toBeGreaterThan(0);
  });

  it('packages/emulator: a handler of a WebSocket API', async () => {
    const { shown } = await pasted('packages/emulator/README.md 1', { shows: ['emulator'] });
    const running = shown.emulator as emulator.Emulator;
    onTestFinished(() => running.stop());
    const socket = new WebSocket(running.url);
    socket.addEventListener('open', () => socket.send('hello'));
    const answer = await new Promise((resolve) =>
      socket.addEventListener('message', ({ data }) => resolve(data)),
    );
    expect(answer).toBe('You said hello');
  });

  it('test/emulated-aws: a DynamoDB in memory', async () => {
    const modules = { '@aws-sdk/client-dynamodb': { DynamoDBClient } };
    const scope = { clock: new emulator.ManualClock(), seed: 7 };
    const { shown } = await pasted('test/emulated-aws/README.md 1', { modules, scope, shows: ['client'] });
    const list = (shown.client as DynamoDBClient).send(new DescribeTableCommand({ TableName: 'none' }));
    await expect(list).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  it('test/emulated-aws: queues and event sources', async () => {
    const createEnvironment = () => ({ connect: async () => ({ statusCode: 200 }) });
    const scope = { ...emulator, createEnvironment, SQSClient, SendMessageCommand };
    const { shown } = await pasted('test/emulated-aws/README.md 2', { scope, shows: ['emulator'] });
    const running = shown.emulator as emulator.Emulator;
    onTestFinished(() => running.stop());
    await expect
      .poll(() => running.sqs.depth('jobs.fifo'))
      .toEqual({ available: 0, delayed: 0, inFlight: 0 });
  });

  it('extensions/publish: a backend publishes', async () => {
    const { seen } = await watcher('orders/+');
    const { lines } = await pasted('extensions/publish/README.md 1');
    expect(lines).toHaveLength(1);
    await expect.poll(() => seen.length).toBe(2);
  });

  it('extensions/publish: an address that a client connects to', async () => {
    const scope = { credentials: CREDENTIALS };
    const { shown } = await pasted('extensions/publish/README.md 2', {
      scope,
      addresses: {},
      shows: ['url'],
    });
    expect(shown.url).toContain('X-Amz-Signature=');
  });

  it('extensions/react: a room', async () => {
    const modules = { '@apus/react': react };
    const scope = { createElement, Fragment };
    const { shown } = await pasted('extensions/react/README.md 1', {
      modules,
      scope,
      shows: ['App', 'open'],
    });
    expect(renderToString(createElement(shown.App as () => null))).toContain('<button>Say hello</button>');
    const client = (shown.open as (onEvent: () => void) => MqttClient)(() => {});
    await expect(client.subscribeAsync('a')).resolves.toHaveLength(1);
  });

  it('extensions/filters: only messages that fit', async () => {
    const client = await mqtt.connectAsync(doors.url, { protocolVersion: 5 });
    onTestFinished(async () => void (await client.endAsync(true)));
    const seen: string[] = [];
    client.on('message', (_topic, payload) => seen.push(payload.toString()));
    await pasted('extensions/filters/README.md 1', { scope: { client } });
    const properties = { userProperties: { region: 'eu' } };
    for (const t of [79, 81])
      await client.publishAsync('sensors/s-1/temp', JSON.stringify({ t }), { qos: 1, properties });
    await client.publishAsync('sensors/s-1/temp', '{"t": 82}', { qos: 1 });
    await client.publishAsync('sensors/s-1/temp', '{"t": 83}', { qos: 1, properties });
    await expect.poll(() => seen).toEqual(['{"t":81}', '{"t": 83}']);
  });

  it('packages/store-disk: the stores of a directory', async () => {
    const scope = { createDiskStores, directory: newFolder(), clock: { now: Date.now } };
    const { shown } = await pasted('packages/store-disk/README.md 1', { scope, shows: ['stores'] });
    await (shown.stores as Awaited<ReturnType<typeof createDiskStores>>).close();
  });
});

test('every program of a page is run here or by a test that exists', () => {
  const known = new Set([...ran, ...Object.keys(ELSEWHERE)]);
  expect(PROGRAMS.map(({ id }) => id).filter((id) => !known.has(id))).toEqual([]);
  expect(Object.values(ELSEWHERE).filter((path) => !exists(path))).toEqual([]);
  for (const { code } of PROGRAMS) expect(() => javascriptOf(code)).not.toThrow();
});
