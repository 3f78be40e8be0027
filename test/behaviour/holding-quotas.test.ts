import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authenticator, type Identity, type Quotas, rulesOfLists } from '@apus/broker';
import { hashPassword, mintToken, readIdentity } from '@apus/identity';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { differsAt, notInACluster } from '../support/only-at.ts';
import { RawClient } from '../support/raw-client.ts';
import { OPTIONS_NEED_OUR_DOOR, openDoor, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { expectCloseWithoutPackets, type Fields, publish, subscribe, usePeers } from './raw/peers.ts';

const exceptions = new Map<string, Partial<Quotas>>();

/** `TENANT/NAME`; any client identifier is theirs. */
const byUserName: Authenticator = {
  authenticate({ username = '' }) {
    const [tenant = '', name = ''] = username.split('/');
    const quotas = exceptions.get(username);
    return { tenant, name, clientIds: ['+'], rules: rulesOfLists(['#'], ['#']), ...(quotas && { quotas }) };
  },
};

const CONNECTIONS_MAX = 2;
const SESSIONS_MAX = 3;
const SUBSCRIPTIONS_MAX = 5;
const RETAINED_MAX = 2;
const QUEUED_BYTES_MAX = 64 * 1024;
const QUOTAS = {
  identity: {
    connectionsMax: CONNECTIONS_MAX,
    sessionsMax: SESSIONS_MAX,
    subscriptionsMax: SUBSCRIPTIONS_MAX,
    retainedMessagesMax: RETAINED_MAX,
    queuedBytesMax: QUEUED_BYTES_MAX,
  },
  tenant: { connectionsMax: 4, sessionsMax: 8, subscriptionsMax: 8 },
};

/** Try Again Later; the gateway has no code of its own to send. */
const CLOSE_CODE = differsAt('gateway', 'the gateway closes with 1000') ? 1000 : 1013;

const persistent = (clientId: string): Fields => ({
  clientId,
  clean: false,
  properties: { sessionExpiryInterval: 60 },
});

describe.skipIf(runningBrokerUrl !== undefined)(
  `the quotas of an identity (${OPTIONS_NEED_OUR_DOOR})`,
  () => {
    const peers = usePeers({ authenticator: byUserName, quotas: QUOTAS });
    const connect = async (username: string, fields: Fields = {}) =>
      (await peers.connect({ username, ...fields })).client;

    /** CONNECT goes out, and the connection closes without a packet. */
    async function expectTurnedAway(username: string, fields: Fields = {}): Promise<void> {
      const client = await peers.open();
      client.send(connectOf(username, fields));
      await expectCloseWithoutPackets(client);
      expect(await client.expectClose()).toBe(CLOSE_CODE);
    }

    it('a connection beyond the quota is closed without CONNACK, so that its client comes back by itself [SEC-QUOTA-5]', async () => {
      const ada = `${unique('t')}/ada`;
      const first = await connect(ada);
      await connect(ada);
      await expectTurnedAway(ada);
      await first.disconnect();
      await connect(ada);
      await expectTurnedAway(ada);
    });

    it('takes no connection from another identity, until the tenant has used up its own quota [SEC-QUOTA-5]', async () => {
      const tenant = unique('t');
      for (const name of ['ada', 'ada', 'bob', 'bob']) await connect(`${tenant}/${name}`);
      await expectTurnedAway(`${tenant}/eve`);
      await connect(`${unique('t')}/eve`);
    });

    it('a client takes over its own connection where there is no room for a further one', async () => {
      const ada = `${unique('t')}/ada`;
      await connect(ada);
      const clientId = unique('c');
      const old = await connect(ada, { clientId });
      for (const clean of [true, false]) await connect(ada, { clientId, clean });
      await old.expectClose();
      await expectTurnedAway(ada);
    });

    it('counts a connection no more however it ended [SEC-QUOTA-5]', async () => {
      const ada = `${unique('t')}/ada`;
      await connect(ada);
      const endings: ((client: RawClient) => unknown)[] = [
        (client) => client.disconnect(),
        (client) => client.vanish(),
        // A second CONNECT, and a packet that is malformed.
        (client) => client.send(connectOf(ada, {})),
        (client) => client.sendBytes('00 00'),
      ];
      for (const end of endings) {
        const client = await reconnected(ada, { properties: { sessionExpiryInterval: 0 } });
        await end(client);
        await client.expectClose();
      }
      await reconnected(ada);
      await expectTurnedAway(ada);
    });

    /** As a client that comes back by itself: at the gateway door the end of a connection is noticed later. */
    async function reconnected(username: string, fields: Fields = {}): Promise<RawClient> {
      for (;;) {
        const client = await peers.open();
        client.send(connectOf(username, fields));
        if ((await client.next().catch(() => undefined))?.cmd === 'connack') return client;
      }
    }

    it('a session beyond the quota does not begin, and those that are there go on [SEC-QUOTA-5]', async () => {
      const ada = `${unique('t')}/ada`;
      const ids = [unique('s'), unique('s'), unique('s')];
      for (const id of ids) await (await connect(ada, persistent(id))).disconnect();
      await expectTurnedAway(ada, persistent(unique('s')));
      await expectTurnedAway(ada);
      const back = await peers.connect({ username: ada, ...persistent(ids[0] ?? '') });
      expect(back.connack.sessionPresent).toBe(true);
      await back.client.disconnect({ properties: { sessionExpiryInterval: 0 } });
      await connect(ada, persistent(unique('s')));
      await expectTurnedAway(ada, persistent(unique('s')));
    });

    it('a filter beyond the quota is refused with 0x97, whichever session it is of [SEC-QUOTA-5]', async () => {
      const ada = `${unique('t')}/ada`;
      const first = await connect(ada, persistent(unique('s')));
      const second = await connect(ada);
      for (const filter of ['a', 'b', 'c']) expect(await subscribe(first, filter)).toBe(0);
      expect(await subscribe(second, 'a')).toBe(0);
      // Counts as two, of 17 levels.
      expect(await subscribe(second, 'x/'.repeat(16))).toBe(0x97);
      expect(await subscribe(second, 'b')).toBe(0);
      expect(await subscribe(second, 'c')).toBe(0x97);
      expect(await subscribe(first, 'a')).toBe(0);
      first.send({ cmd: 'unsubscribe', messageId: 9, unsubscriptions: ['a'] });
      await first.expect('unsuback');
      expect(await subscribe(second, 'c')).toBe(0);
      await first.disconnect({ properties: { sessionExpiryInterval: 0 } });
      expect(await subscribe(second, 'd')).toBe(0);
      expect(await subscribe(second, 'e')).toBe(0);
      expect(await subscribe(second, 'f')).toBe(0x97);
    });

    it('takes no filter from another identity, until the tenant has used up its own quota', async () => {
      const tenant = unique('t');
      const ada = await connect(`${tenant}/ada`);
      for (const filter of ['a', 'b', 'c', 'd', 'e']) expect(await subscribe(ada, filter)).toBe(0);
      const bob = await connect(`${tenant}/bob`);
      for (const filter of ['a', 'b', 'c']) expect(await subscribe(bob, filter)).toBe(0);
      expect(await subscribe(bob, 'd')).toBe(0x97);
      await publish(bob, { topic: 'nobody', qos: 1 });
    });

    it('a message beyond the quota is not retained (0x97), and others of its tenant go on [SEC-QUOTA-8]', async () => {
      const tenant = unique('t');
      const ada = await connect(`${tenant}/ada`);
      const bob = await connect(`${tenant}/bob`);
      const retain = async (client: RawClient, topic: string, payload = 'x') => {
        client.send({ cmd: 'publish', messageId: 1, qos: 1, dup: false, retain: true, topic, payload });
        return (await client.expect('puback')).reasonCode;
      };
      const NONE = 0x10;
      expect([await retain(ada, 'a'), await retain(ada, 'b'), await retain(ada, 'c')]).toEqual([
        NONE,
        NONE,
        0x97,
      ]);
      expect(await retain(bob, 'c')).toBe(NONE);
      expect([await retain(ada, 'a', ''), await retain(ada, 'd')]).toEqual([NONE, NONE]);
    });

    it('the queues of one identity do not use up the quota of its tenant: its own messages are dropped [SEC-QUOTA-8]', async () => {
      const tenant = unique('t');
      const waits = { clientId: unique('s'), clean: false, properties: { sessionExpiryInterval: 60 } };
      const ada = await connect(`${tenant}/ada`, waits);
      expect(await subscribe(ada, 'flood', { qos: 1 })).toBe(1);
      await ada.disconnect();
      const sender = await connect(`${tenant}/ada`);
      for (let count = 0; count < 10; count += 1)
        await publish(sender, { topic: 'flood', qos: 1, payload: 'x'.repeat(QUEUED_BYTES_MAX / 4) });
      const bob = await connect(`${tenant}/bob`, { ...waits, clientId: unique('s') });
      expect(await subscribe(bob, 'calm', { qos: 1 })).toBe(1);
      await publish(sender, { topic: 'calm', qos: 1 });
      await bob.expect('publish');
      const { client } = await peers.connect({ username: `${tenant}/ada`, ...waits });
      for (let count = 0; count < 3; count += 1) {
        const { messageId } = await client.expect('publish');
        client.send({ cmd: 'puback', messageId });
      }
      await client.expectNothing();
    });

    it('applies the identity’s own quotas in place of the configured ones', async () => {
      const ada = `${unique('t')}/ada`;
      exceptions.set(ada, { connectionsMax: 1, subscriptionsMax: 1 });
      const client = await connect(ada);
      await expectTurnedAway(ada);
      expect(await subscribe(client, 'a')).toBe(0);
      expect(await subscribe(client, 'b')).toBe(0x97);
    });

    it(
      'counts what a restart has found on the disk [SEC-QUOTA-5]',
      notInACluster('the engine keeps sessions'),
      async () => {
        const dataDirectory = mkdtempSync(join(tmpdir(), 'apus-quota-'));
        onTestFinished(() => rmSync(dataDirectory, { recursive: true }));
        const options = { authenticator: byUserName, quotas: QUOTAS, dataDirectory };
        const ada = `${unique('t')}/ada`;
        const before = await openDoor(options);
        for (const id of ['one', 'two', 'three']) {
          const { client } = await RawClient.connect(before.url, { username: ada, ...persistent(id) });
          expect(await subscribe(client, `f/${id}`)).toBe(0);
          await client.disconnect();
        }
        await before.stop();
        const after = await openDoor(options);
        onTestFinished(() => after.stop());
        const stranger = await RawClient.open(after.url);
        stranger.send(connectOf(ada, persistent('four')));
        await expectCloseWithoutPackets(stranger);
        const { client, connack } = await RawClient.connect(after.url, {
          username: ada,
          ...persistent('one'),
        });
        expect(connack.sessionPresent).toBe(true);
        for (const [filter, code] of [
          ['a', 0],
          ['b', 0],
          ['c', 0x97],
        ] as const)
          expect(await subscribe(client, filter)).toBe(code);
        // Connections that wait for the disk are counted as well, and no more when they have ended.
        const two = await RawClient.connect(after.url, { username: ada, ...persistent('two') });
        const third = await RawClient.open(after.url);
        third.send(connectOf(ada, persistent('three')));
        await expectCloseWithoutPackets(third);
        await two.client.disconnect();
        await RawClient.connect(after.url, { username: ada, ...persistent('three') });
        client.close();
      },
    );
  },
);

describe.skipIf(runningBrokerUrl !== undefined)('the messages that wait for the clients of a tenant', () => {
  const peers = usePeers({
    authenticator: byUserName,
    tenantQueueBytesMax: 20_000,
    quotas: { identity: { queuedBytesMax: 0 } },
  });
  const PAYLOAD = 'x'.repeat(8_000);

  async function answers(client: RawClient, count: number): Promise<unknown[]> {
    const codes: unknown[] = [];
    for (let messageId = 1; messageId <= count; messageId += 1) {
      client.send({ cmd: 'publish', topic: 'f', qos: 1, messageId, payload: PAYLOAD });
      codes.push((await client.expect('puback')).reasonCode);
    }
    return codes;
  }

  it('are bounded: a further message is refused with 0x97, and no accepted one is lost [SEC-QUOTA-5]', async () => {
    const tenant = unique('t');
    const [ada, bob] = [`${tenant}/ada`, `${tenant}/bob`];
    const session = persistent(unique('s'));
    const away = await peers.connect({ username: ada, ...session });
    await subscribe(away.client, 'f', { qos: 1 });
    await away.client.disconnect();
    const publisher = await peers.connect({ username: bob });
    expect(await answers(publisher.client, 4)).toEqual([0, 0, 0, 0x97]);
    const stranger = await peers.connect({ username: `${unique('t')}/eve` });
    await subscribe(stranger.client, 'f');
    await publish(stranger.client, { topic: 'f', qos: 0, payload: 'goes on' });
    const back = await peers.connect({ username: ada, ...session });
    for (const _ of [1, 2, 3]) {
      const { messageId } = await back.client.expect('publish');
      back.client.send({ cmd: 'puback', messageId });
    }
    await back.client.expectNothing();
    // Another process of a cluster hears of it a moment later.
    await expect.poll(() => answers(publisher.client, 1)).toEqual([0]);
  });
});

describe.skipIf(runningBrokerUrl !== undefined)('the queues of a tenant with a plan', () => {
  const PLANS: Readonly<Record<string, number>> = { small: 20_000, unbounded: 0 };
  const peers = usePeers({
    authenticator: {
      authenticate: (credentials) => {
        const identity = byUserName.authenticate(credentials) as Identity;
        const queuedBytesMax = PLANS[identity.tenant];
        return queuedBytesMax === undefined ? identity : { ...identity, plan: { queuedBytesMax } };
      },
    },
    tenantQueueBytesMax: 40_000,
    quotas: { identity: { queuedBytesMax: 0 } },
  });

  /** Publishes to a client that is away. @returns how many messages were taken, until one is refused */
  async function fill(tenant: string): Promise<number> {
    const away = await peers.connect({ username: `${tenant}/ada`, ...persistent(unique('s')) });
    await subscribe(away.client, 'f', { qos: 1 });
    await away.client.disconnect();
    const { client } = await peers.connect({ username: `${tenant}/bob` });
    for (let messageId = 1; messageId <= 20; messageId += 1) {
      client.send({ cmd: 'publish', topic: 'f', qos: 1, messageId, payload: 'x'.repeat(8_000) });
      const { reasonCode } = await client.expect('puback');
      if (reasonCode === 0x97) return messageId - 1;
      expect(reasonCode).toBe(0);
    }
    return 20;
  }

  it('are bounded by it in the place of the limit of every tenant; 0 is any number [SEC-TENANT-8] [SEC-QUOTA-5]', async () => {
    expect(await fill('small')).toBe(3);
    expect(await fill(unique('t'))).toBe(5);
    expect(await fill('unbounded')).toBe(20);
  });
});

describe.skipIf(runningBrokerUrl !== undefined)('quotas of one identity', async () => {
  const secret = '0123456789abcdef0123456789abcdef';
  const directory = mkdtempSync(join(tmpdir(), 'apus-quota-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'users.json');
  const password = await hashPassword(Buffer.from('correct horse'));
  const quotas = { connectionsMax: 1, subscriptionsMax: 1 };
  writeFileSync(
    file,
    JSON.stringify({ users: [{ name: 'bob', password, publish: [], subscribe: ['#'], quotas }] }),
  );
  const identity = readIdentity({ authenticators: [{ jwt: { secret } }, { users: { file } }] }, 'identity');
  const peers = usePeers({ identity });

  it.each([
    ['a token', async () => ({ username: 'ada', password: await tokenOf('ada') })],
    ['the users file', async () => ({ username: 'bob', password: 'correct horse' })],
  ])('hold where %s brings them', async (_what, shown) => {
    const fields = await shown();
    const { client } = await peers.connect(fields);
    expect(await subscribe(client, 'a')).toBe(0);
    expect(await subscribe(client, 'b')).toBe(0x97);
    const second = await peers.open();
    second.send(connectOf(fields.username, fields));
    await expectCloseWithoutPackets(second);
  });

  async function tokenOf(sub: string): Promise<string> {
    const claims = { sub, subscribe: ['#'], quotas, expiresInSeconds: 60, nowMs: Date.now() };
    return await mintToken(new TextEncoder().encode(secret), claims);
  }
});

function connectOf(username: string, fields: Fields): Fields {
  return {
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 5,
    clean: true,
    clientId: unique('peer'),
    keepalive: 0,
    username,
    ...fields,
  };
}
