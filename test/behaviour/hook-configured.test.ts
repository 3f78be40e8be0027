import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashPassword, parseIdentity } from '@apus/identity';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { answer, startHookServer } from '../support/hook-server.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { expectMessage, publish, subscribe, usePeers } from './raw/peers.ts';

const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);
const BODY = {
  ...{ clientid: '${clientid}', username: '${username}', peerhost: '${peerhost}' },
  ...{ action: '${action}', topic: '${topic}', qos: '${qos}', retain: '${retain}' },
};

ownDoor(`the hook that a configuration names for authorization (${OPTIONS_NEED_OUR_DOOR})`, async () => {
  const hook = await startHookServer();
  const directory = mkdtempSync(join(tmpdir(), 'apus-hook-'));
  const file = join(directory, 'users.json');
  const password = await hashPassword(Buffer.from('secret'));
  const ada = { name: 'ada', password, publish: ['own/%u'], subscribe: [] };
  writeFileSync(file, JSON.stringify({ users: [ada] }));
  const authorization = { hook: { url: `${hook.url}/authz`, body: BODY, cacheSeconds: 0 } };
  const configuration = { authenticators: [{ users: { file } }], authorization };
  const peers = usePeers({ identity: parseIdentity(JSON.stringify(configuration), 'identity.json') });
  const connect = async (fields: Record<string, unknown> = {}) =>
    (await peers.connect({ username: 'ada', password: 'secret', ...fields })).client;

  beforeEach(() => {
    hook.calls.length = 0;
    hook.respond = (_, response) => answer(response, { result: 'allow' });
  });
  afterAll(async () => {
    await hook.stop();
    rmSync(directory, { recursive: true });
  });

  it('allows topics that the rules of a user do not, and is told the address of the client', async () => {
    const topic = unique('asked');
    const clientId = unique('c');
    const client = await connect({ clientId });
    expect(await subscribe(client, topic, { qos: 1 })).toBe(1);
    await publish(await connect(), { topic, payload: 'allowed', qos: 1 });
    await expectMessage(client, 'allowed');
    const asked = { clientid: clientId, username: 'ada', peerhost: '127.0.0.1', topic };
    expect(hook.calls[0]).toMatchObject({
      path: '/authz',
      body: { ...asked, action: 'subscribe', qos: '1' },
    });
    expect(hook.calls.map(({ body }) => body.action)).toContain('publish');
  });

  it('is not asked for topics that the rules of the user allow', async () => {
    const client = await connect();
    client.send({ cmd: 'publish', topic: 'own/ada', payload: 'x', qos: 1, messageId: 1 });
    expect((await client.expect('puback')).reasonCode).toBe(0x10);
    expect(hook.calls).toEqual([]);
  });

  it.each([
    ['denies', (response: Parameters<typeof answer>[0]) => answer(response, { result: 'deny' })],
    ['is silent', (response: Parameters<typeof answer>[0]) => void response.destroy()],
  ])('that %s: 0x87 for PUBLISH, SUBSCRIBE and a will', async (_what, respond) => {
    hook.respond = (_, response) => respond(response);
    const client = await connect();
    expect(await subscribe(client, unique('asked'))).toBe(0x87);
    client.send({ cmd: 'publish', topic: unique('asked'), payload: 'x', qos: 1, messageId: 1 });
    expect((await client.expect('puback')).reasonCode).toBe(0x87);
    const will = { topic: unique('asked'), payload: 'x', qos: 0, retain: false };
    const { connack } = await peers.connect({ username: 'ada', password: 'secret', will });
    expect(connack.reasonCode).toBe(0x87);
  });

  it('is asked again when a session is resumed: a subscription that it no longer allows ends', async () => {
    const topic = unique('asked');
    const stays = { clientId: `ada-${unique('c')}`, clean: false, properties: { sessionExpiryInterval: 60 } };
    const client = await connect(stays);
    expect(await subscribe(client, topic, { qos: 1 })).toBe(1);
    await client.disconnect();
    hook.respond = ({ body }, response) =>
      answer(response, { result: body.action === 'publish' ? 'allow' : 'deny' });
    const back = await connect(stays);
    const publisher = await connect();
    publisher.send({ cmd: 'publish', topic, payload: 'x', qos: 1, messageId: 1 });
    expect((await publisher.expect('puback')).reasonCode).toBe(0x10);
    await back.expectNothing();
  });
});
