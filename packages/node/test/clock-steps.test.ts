import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rulesOfLists } from '@apus/broker';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { type NodeOptions, startNode } from '../src/index.ts';
import { call } from './support/call-api.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

const HOUR_MS = 3_600_000;

/** Later than a sweep of the connections. */
const SWEPT_MS = 500;

let clock: FakeScheduler;

beforeEach(() => {
  clock = new FakeScheduler();
});

const KEPT = { clientId: 'kept', clean: false, properties: { sessionExpiryInterval: 60 } };

async function subscribed(url: string, topic: string, connect: Record<string, unknown> = {}) {
  const { client } = await RawClient.connect(url, connect);
  client.send({
    cmd: 'subscribe',
    messageId: 1,
    subscriptions: [{ topic, qos: 1, nl: false, rap: false, rh: 0 }],
  });
  await client.expect('suback');
  return client;
}

async function publish(client: RawClient, topic: string, fields: Record<string, unknown> = {}) {
  client.send({ cmd: 'publish', topic, payload: 'x', qos: 1, messageId: 1, ...fields });
  return await client.expect('puback');
}

describe.each([
  ['back by two seconds', -2_000],
  ['back by an hour', -HOUR_MS],
  ['forward by two seconds', 2_000],
  ['forward by an hour', HOUR_MS],
])('where the wall clock steps %s', (_, stepMs) => {
  it('a client at its rate is read on as if it had not, and answered [SEC-QUOTA-1]', async () => {
    const { url } = await nodeForTest({ clock, quotas: { identity: { publishesPerSecondMax: 10 } } });
    const { client } = await RawClient.connect(url);
    for (let count = 0; count < 9; count += 1) await publish(client, 't');
    clock.step(stepMs);
    for (let count = 0; count < 20; count += 1) {
      client.send({ cmd: 'publish', topic: 't', payload: 'x', qos: 1, messageId: 1 });
      clock.advance(100);
      await client.expect('puback');
    }
    clock.advance(1_000);
    client.send({ cmd: 'pingreq' });
    await client.expect('pingresp');
  });

  it('a client may be silent for one and a half times its Keep Alive, and no longer [MQTT-3.1.2-22]', async () => {
    const { url } = await nodeForTest({ clock });
    const { client } = await RawClient.connect(url, { keepalive: 10 });
    clock.advance(10_000);
    clock.step(stepMs);
    clock.advance(4_000);
    await client.expectNothing();
    clock.advance(10_000);
    clock.step(stepMs);
    clock.advance(5_000 + SWEPT_MS);
    expect((await client.expect('disconnect')).reasonCode).toBe(0x8d);
  });

  it('a connection without CONNECT has as long as before', async () => {
    const { url } = await nodeForTest({ clock, connectTimeoutSeconds: 7 });
    const client = await RawClient.open(url);
    clock.step(stepMs);
    clock.advance(6_000);
    client.send({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 5,
      clean: true,
      clientId: 'a',
      keepalive: 0,
    });
    await client.expect('connack');
    const silent = await RawClient.open(url);
    clock.step(stepMs);
    clock.advance(7_000 + SWEPT_MS);
    expect(await silent.expectClose()).toBe(1008);
  });

  it('a will comes after its delay, and not before', async () => {
    const { url } = await nodeForTest({ clock });
    const watcher = await subscribed(url, 'gone');
    const will = { topic: 'gone', payload: 'x', qos: 1, properties: { willDelayInterval: 5 } };
    const { client } = await RawClient.connect(url, { ...KEPT, will });
    await client.vanish();
    await expect.poll(() => isConnected(url, 'kept')).toBe(false);
    clock.step(stepMs);
    clock.advance(4_000);
    await watcher.expectNothing();
    clock.advance(1_000);
    await watcher.expect('publish');
  });

  it('a session waits for its client as long as it should, with its messages, and its will is withdrawn', async () => {
    const { url } = await nodeForTest({ clock });
    const watcher = await subscribed(url, 'gone');
    const will = { topic: 'gone', payload: 'x', qos: 1, properties: { willDelayInterval: 60 } };
    for (const [awaySeconds, isThere] of [
      [59, true],
      [61, false],
    ] as const) {
      const connect = { ...KEPT, clientId: `away-${awaySeconds}` };
      const first = await subscribed(url, 't', { ...connect, will });
      await first.vanish();
      await expect.poll(() => isConnected(url, connect.clientId)).toBe(false);
      await publish(watcher, 't');
      clock.step(stepMs);
      clock.advance(awaySeconds * 1_000);
      const { client, connack } = await RawClient.connect(url, connect);
      expect(connack.sessionPresent).toBe(isThere);
      if (isThere) await client.expect('publish');
      else await watcher.expect('publish');
      await watcher.expectNothing();
      await client.disconnect();
    }
  });

  it('a delayed message comes when it should', async () => {
    const { url } = await nodeForTest({ clock });
    const client = await subscribed(url, 't');
    await publish(client, '$delayed/5/t');
    clock.step(stepMs);
    clock.advance(4_900);
    await client.expectNothing();
    clock.advance(100);
    await client.expect('publish');
  });
});

it('a client is connected until its token ends by the wall clock, whichever way that steps', async () => {
  const authenticator = {
    authenticate: () => ({
      tenant: 'default',
      name: 'ada',
      rules: rulesOfLists(['#'], ['#']),
      expiresAtMs: clock.now() + HOUR_MS,
    }),
  };
  const { url } = await nodeForTest({ clock, authenticator });
  const { client } = await RawClient.connect(url);
  clock.step(-HOUR_MS);
  clock.advance(HOUR_MS + SWEPT_MS);
  await client.expectNothing();
  clock.step(HOUR_MS);
  clock.advance(SWEPT_MS);
  expect((await client.expect('disconnect')).reasonCode).toBe(0x87);
});

it('a delayed message waits for the rest of its delay after a restart, and never for more than the delay', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'apus-clock-'));
  onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const options: NodeOptions = { clock, dataDirectory, port: 0, logLevel: 'silent' };
  const node = await startNode(options);
  await publish((await RawClient.connect(node.url)).client, '$delayed/10/a');
  await publish((await RawClient.connect(node.url)).client, '$delayed/20/b');
  clock.advance(5_000);
  await node.stop();
  clock.step(10_000);
  const { url } = await nodeForTest(options);
  const client = await subscribed(url, '+');
  clock.advance(0);
  expect((await client.expect('publish')).topic).toBe('a');
  clock.advance(4_900);
  await client.expectNothing();
  clock.advance(100);
  expect((await client.expect('publish')).topic).toBe('b');
});

it('a delayed message waits for its delay again if the wall clock goes back before a restart', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'apus-clock-'));
  onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const options: NodeOptions = { clock, dataDirectory, port: 0, logLevel: 'silent' };
  const node = await startNode(options);
  await publish((await RawClient.connect(node.url)).client, '$delayed/10/a');
  await node.stop();
  clock.step(-HOUR_MS);
  const { url } = await nodeForTest(options);
  const client = await subscribed(url, '+');
  clock.advance(9_900);
  await client.expectNothing();
  clock.advance(100);
  await client.expect('publish');
});

async function isConnected(url: string, clientId: string): Promise<unknown> {
  const { origin } = new URL(url.replace('ws:', 'http:'));
  const { body } = await call(`${origin}/api/v5`, `/clients/${clientId}`);
  return (body as { readonly connected?: boolean }).connected;
}
