import { authenticationOf } from '@apus/aws/lambda';
import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answer, type HookServer, startHookServer } from '../support/hook-server.ts';
import { unique } from '../support/unique.ts';
import { type CloudWorld, startCloud } from './start-cloud.ts';

// All of a deployment is of this process: on a busy machine its tests take many seconds.
vi.setConfig({ testTimeout: 120_000 });

const log = { debug() {}, info() {}, warn() {}, error() {} };

let hook: HookServer;
let world: CloudWorld;
const clients: mqtt.MqttClient[] = [];

beforeEach(async () => {
  hook = await startHookServer();
  hook.respond = ({ path, body }, response) => {
    const isRight = path === '/auth' ? body.password === 'secret' : String(body.topic).startsWith('allowed/');
    answer(response, { result: isRight ? 'allow' : 'deny' });
  };
  const names = (...placeholders: string[]) =>
    Object.fromEntries(placeholders.map((name) => [name, `\${${name}}`]));
  const auth = { url: `${hook.url}/auth`, body: names('clientid', 'username', 'password', 'peerhost') };
  const authz = {
    url: `${hook.url}/authz`,
    body: names('clientid', 'username', 'action', 'topic', 'qos', 'retain'),
  };
  const variables = {
    APUS_IDENTITY: JSON.stringify({ authenticators: [{ hook: auth }], mqttPassword: true }),
    APUS_AUTHORIZATION: JSON.stringify({ hook: authz }),
  };
  const authentication = authenticationOf(variables, { clock: { now: Date.now }, log });
  world = await startCloud({ seed: 7, ...authentication });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
  await world.emulator.quiet();
  await world.stop();
  await hook.stop();
  expect(world.failures).toEqual([]);
});

async function connect(options: mqtt.IClientOptions = {}): Promise<mqtt.MqttClient> {
  const client = connectInTextFrames(mqtt, world.url, {
    protocolVersion: 5,
    reconnectPeriod: 0,
    username: 'ada',
    password: 'secret',
    ...options,
  });
  clients.push(client);
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve());
    client.once('error', reject);
  });
  return client;
}

describe('a deployment that asks a server written for EMQX', () => {
  it('lets in the clients that it allows, with the rights that it grants', async () => {
    const clientId = unique('hook');
    const client = await connect({ clientId });
    expect(hook.calls.map(({ path, body }) => [path, body])).toEqual([
      ['/auth', { clientid: clientId, username: 'ada', password: 'secret', peerhost: '127.0.0.1' }],
    ]);
    await client.subscribeAsync('allowed/#', { qos: 1 });
    await expect(client.subscribeAsync('secret/#')).rejects.toThrow();
    const received = new Promise<string>((resolve) => {
      client.on('message', (_topic, payload) => resolve(payload.toString()));
    });
    await client.publishAsync('allowed/a', 'hello', { qos: 1 });
    expect(await received).toBe('hello');
    await expect(client.publishAsync('secret/a', 'hello', { qos: 1 })).rejects.toMatchObject({ code: 0x87 });
    const asked = hook.calls.slice(1).map(({ body }) => [body.action, body.topic, body.qos, body.retain]);
    expect(asked).toEqual([
      ['subscribe', 'allowed/#', '1', 'false'],
      ['subscribe', 'secret/#', '0', 'false'],
      ['publish', 'allowed/a', '1', 'false'],
      ['publish', 'secret/a', '1', 'false'],
    ]);
  });
});
