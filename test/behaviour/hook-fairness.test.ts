import type { ServerResponse } from 'node:http';
import { parseIdentity } from '@apus/identity';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { answer, startHookServer } from '../support/hook-server.ts';
import { notInACluster } from '../support/only-at.ts';
import { RawClient } from '../support/raw-client.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { usePeers } from './raw/peers.ts';

const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);
const BODY = { username: '${username}', topic: '${topic}' };
/** More than the share of one address, running and waiting. */
const MANY = 350;
const GUESSES = 12;

ownDoor(`a slow hook (${OPTIONS_NEED_OUR_DOOR})`, async () => {
  const hook = await startHookServer();
  const configuration = {
    authenticators: [{ hook: { url: `${hook.url}/auth`, body: { username: '${username}' } } }],
    authorization: { hook: { url: `${hook.url}/authz`, body: BODY } },
  };
  const peers = usePeers({ identity: parseIdentity(JSON.stringify(configuration), 'identity.json') });
  const held: ServerResponse[] = [];
  const open: RawClient[] = [];
  const release = () => {
    for (const response of held.splice(0)) answer(response, { result: 'allow' });
  };
  /** Answers nothing about mallory at this path. */
  const holdMallory = (where: string) => {
    hook.respond = ({ path, body }, response) => {
      if (path === where && String(body.username).startsWith('mallory')) held.push(response);
      else answer(response, { result: 'allow' });
    };
  };
  afterEach(() => {
    release();
    for (const client of open.splice(0)) client.close();
  });
  afterAll(() => hook.stop());

  const opened = async (from: string) => {
    const client = await RawClient.open(peers.url(), 5, ['mqtt'], {}, from);
    open.push(client);
    return client;
  };
  const connect = async (username: string, from: string) => {
    const client = await opened(from);
    return { client, connack: await client.logIn({ username, password: 'x', clientId: unique('c') }) };
  };

  it(
    'lets clients of other addresses in while one address has many logins under way [SEC-HOOK-5]',
    notInACluster('the balancer of the tests hides addresses'),
    async () => {
      holdMallory('/auth');
      // The logins begin together: a hook has seconds for each.
      const clients = await Promise.all(Array.from({ length: MANY }, () => opened('127.0.0.1')));
      const codes: unknown[] = [];
      for (const [index, client] of clients.entries())
        client
          .logIn({ username: `mallory ${index}`, password: 'x', clientId: unique('c') })
          .then(({ reasonCode }) => codes.push(reasonCode))
          .catch(() => {});
      // Those beyond the share are told that the server is busy.
      await expect.poll(() => codes).toContain(0x89);
      expect((await connect('ada', '127.0.0.2')).connack.reasonCode).toBe(0);
      holdMallory('none');
      release();
      await expect.poll(() => codes).toContain(0);
    },
  );

  it('answers other identities while one publishes to ever new topics [SEC-HOOK-5]', async () => {
    holdMallory('none');
    const flooders: Awaited<ReturnType<typeof connect>>[] = [];
    // A part at a time: together their logins would be more than the share of an address.
    while (flooders.length < MANY)
      flooders.push(
        ...(await Promise.all(Array.from({ length: 50 }, () => connect('mallory', '127.0.0.1')))),
      );
    const { client } = await connect('ada', '127.0.0.1');
    holdMallory('/authz');
    for (const flooder of flooders)
      flooder.client.send({ cmd: 'publish', topic: unique('t'), payload: 'x', qos: 1, messageId: 1 });
    await expect.poll(() => held.length).toBeGreaterThanOrEqual(32);
    client.send({ cmd: 'publish', topic: unique('t'), payload: 'x', qos: 1, messageId: 1 });
    expect((await client.expect('puback')).reasonCode).toBe(0x10);
  });

  it.each([401, 200])(
    'that says no by %i is not asked for ever about a password that is guessed [SEC-GUESS-7]',
    notInACluster('each process counts guesses for itself'),
    async (status) => {
      hook.respond = (_, response) => answer(response, { result: 'ignore' }, status);
      const codes: unknown[] = [];
      const username = unique('name');
      for (let guess = 0; guess < GUESSES; guess++)
        codes.push((await connect(username, '127.0.0.1')).connack.reasonCode);
      expect(codes).toEqual([...new Array(5).fill(0x86), ...new Array(GUESSES - 5).fill(0x9f)]);
      expect(hook.calls.filter(({ body }) => body.username === username)).toHaveLength(5);
    },
  );
});
