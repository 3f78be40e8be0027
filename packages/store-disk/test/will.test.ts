import { createDiskStores } from '@apus/store-disk';
import { expect, it, onTestFinished } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { startNode } from '../../node/src/index.ts';
import { FakeScheduler } from '../../node/test/support/fake-scheduler.ts';
import { WILL_GRACE_SECONDS } from '../src/limits.ts';
import { temporaryDirectory } from './support/directory.ts';
import { openOf } from './support/values.ts';

const TENANT = 'default';
const WILL = { topic: 'gone', payload: Buffer.from('bye'), qos: 1, retain: false, properties: {} } as const;

/** A node whose last process died while a client with a will was connected, and a subscriber to the will. */
async function restarted() {
  const clock = new FakeScheduler();
  const dataDirectory = temporaryDirectory();
  const identity = { tenant: TENANT, name: '' };
  const stores = await createDiskStores({ directory: dataDirectory, clock });
  await stores.sessions.open(openOf('mortal', { tenant: TENANT, identity, will: WILL, nowMs: clock.now() }));
  await stores.close();
  const node = await startNode({ port: 0, logLevel: 'silent', dataDirectory, clock });
  onTestFinished(() => node.stop());
  const { client: heir } = await RawClient.connect(node.url);
  heir.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'gone', qos: 1 }] });
  await heir.expect('suback');
  return { clock, node, heir };
}

it(`sends the will of a connection that a crash has cut ${WILL_GRACE_SECONDS} s after the start [MQTT-3.1.2-8]`, async () => {
  const { clock, heir } = await restarted();
  clock.advance(WILL_GRACE_SECONDS * 1000 - 1);
  await heir.expectNothing();
  clock.advance(1);
  expect(await heir.expect('publish')).toMatchObject({ topic: 'gone' });
});

it('sends no will when its client is back before [MQTT-3.1.3-9]', async () => {
  const { clock, node, heir } = await restarted();
  const connect = { clientId: 'mortal', clean: false, properties: { sessionExpiryInterval: 60 } };
  const { connack } = await RawClient.connect(node.url, connect);
  expect(connack.sessionPresent).toBe(true);
  clock.advance(WILL_GRACE_SECONDS * 1000);
  await heir.expectNothing();
});

it('ends the session when its time has come', async () => {
  const { clock, node } = await restarted();
  clock.advance(60_000);
  const { connack } = await RawClient.connect(node.url, { clientId: 'mortal', clean: false });
  expect(connack.sessionPresent).toBe(false);
});
