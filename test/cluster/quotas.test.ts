import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authenticator, rulesOfLists } from '@apus/broker';
import { Built, type Serving } from '@apus/cli/testing';
import { hashPassword } from '@apus/identity';
import type { NodeOptions, RunningNode } from '@apus/node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import { handshake } from '../behaviour/raw/handshake.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { RawClient } from '../support/raw-client.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const CONNECTIONS_MAX = 5;
const SUBSCRIPTIONS_MAX = 7;
/** A dead process is given up after five seconds; the machine may be busy. */
const ARRIVAL = { timeout: 90_000, interval: 100 };

/** `TENANT/NAME`. The identity may use any client identifier. */
const byUserName: Authenticator = {
  authenticate({ username = '' }) {
    const [tenant = '', name = ''] = username.split('/');
    return { tenant, name, clientIds: ['+'], rules: rulesOfLists(['#'], ['#']) };
  },
};

const OPTIONS: NodeOptions = {
  authenticator: byUserName,
  quotas: {
    identity: { connectionsMax: CONNECTIONS_MAX, subscriptionsMax: SUBSCRIPTIONS_MAX, sessionsMax: 20 },
  },
};

/** Undefined: turned away without CONNACK. */
async function tryToConnect(
  url: string,
  username: string,
  fields: Record<string, unknown> = {},
): Promise<RawClient | undefined> {
  const client = await RawClient.open(url);
  onTestFinished(() => client.close());
  client.send({
    ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clean: true, keepalive: 0 },
    ...{ clientId: unique('c'), username, ...fields },
  });
  const answer = await client.next().catch(() => undefined);
  if (answer !== undefined) expect(answer).toMatchObject({ cmd: 'connack', reasonCode: 0 });
  return answer === undefined ? undefined : client;
}

/** Sends each of the filters in a SUBSCRIBE of its own, all of one session, and returns how many are granted. */
async function subscribed(client: RawClient, filters: readonly string[]): Promise<number> {
  let granted = 0;
  for (const [index, topic] of filters.entries()) {
    client.send({ cmd: 'subscribe', messageId: index + 1, subscriptions: [{ topic, qos: 0 }] });
    const { granted: codes } = await client.expect('suback');
    if ((codes as number[])[0] === 0) granted += 1;
  }
  return granted;
}

describe('an identity at one process of a cluster', needs('engine', program), () => {
  it('gets half of the places of this process, and others the other half [SEC-PLACE-2]', async () => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const members: RunningNode[] = [];
    for (let count = 0; count < 2; count += 1) {
      const member = await startMember(engine.url, { authenticator: byUserName, connectionsMax: 8 });
      onTestFinished(() => member.stop());
      members.push(member);
    }
    const [first, second] = members.map(({ url }) => url) as [string, string];
    const own: (RawClient | undefined)[] = [];
    for (let count = 0; count < 6; count += 1) own.push(await tryToConnect(first, 'a/mallory'));
    expect(own.filter((client) => client !== undefined)).toHaveLength(4);
    expect(await tryToConnect(first, 'b/ada')).toBeDefined();
    expect(await tryToConnect(second, 'a/mallory')).toBeDefined();
  });
});

test(
  'a client that one process has passed on to another is pending at neither [SEC-PLACE-1]',
  needs('engine', program),
  async () => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const members: RunningNode[] = [];
    for (let count = 0; count < 2; count += 1) {
      const member = await startMember(engine.url, { authenticator: byUserName, pendingPerAddressMax: 10 });
      onTestFinished(() => member.stop());
      members.push(member);
    }
    const stays = { clientId: unique('c'), clean: false, properties: { sessionExpiryInterval: 60 } };
    const before = await tryToConnect(members[0]?.url ?? '', 'a/ada', stays);
    await before?.disconnect();
    const client = await tryToConnect(members[1]?.url ?? '', 'a/ada', stays);
    for (const { port } of members)
      for (let count = 0; count < 20; count += 1) {
        // Handshakes, and no CONNECT.
        const socket = connect(port, '127.0.0.1', () => socket.write(`${handshake()}\r\n`));
        onTestFinished(() => void socket.destroy());
        await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      }
    client?.send({ cmd: 'pingreq' });
    expect(await client?.expect('pingresp')).toBeDefined();
  },
);

describe('an identity that spreads over three processes', needs('engine', program), () => {
  let engine: TestEngine;
  let members: RunningNode[];

  beforeAll(async () => {
    engine = await startEngine(program);
    members = [];
    for (let count = 0; count < 3; count += 1) members.push(await startMember(engine.url, OPTIONS));
  });

  afterAll(async () => {
    for (const member of members) await member.stop();
    await engine.stop();
  });

  const urlAt = (index: number) => members[index % members.length]?.url ?? '';

  it('has as many connections as at one process, however many it tries at once, again and again [SEC-QUOTA-5]', async () => {
    const ada = `${unique('t')}/ada`;
    for (let round = 0; round < 3; round += 1) {
      const tries = Array.from({ length: 30 }, (_, index) => tryToConnect(urlAt(index), ada));
      const connected = (await Promise.all(tries)).filter((client) => client !== undefined);
      expect(connected).toHaveLength(CONNECTIONS_MAX);
      const bob = await tryToConnect(urlAt(round), `${unique('t')}/bob`);
      expect(bob).toBeDefined();
      for (const client of connected) await client.disconnect();
      // A process tells the engine when it has seen the end of a connection.
      await expect
        .poll(async () => (await tryToConnect(urlAt(round), ada))?.disconnect().then(() => true))
        .toBe(true);
    }
  });

  it('has as many subscriptions as at one process, for sessions that subscribe at once [SEC-QUOTA-5]', async () => {
    const ada = `${unique('t')}/ada`;
    const clients = await Promise.all([0, 1, 2].map((at) => tryToConnect(urlAt(at), ada)));
    const filters = ['a', 'b', 'c', 'd', 'e', 'f'];
    const granted = await Promise.all(clients.map((client) => client && subscribed(client, filters)));
    expect(granted.reduce<number>((sum, count = 0) => sum + count, 0)).toBe(SUBSCRIPTIONS_MAX);
    await clients[0]?.disconnect();
    await expect.poll(async () => clients[1] && (await subscribed(clients[1], ['g']))).toBe(1);
  });

  it('keeps its count when its session is taken over, and releases it with a refused CONNECT', async () => {
    const ada = `${unique('t')}/ada`;
    const clientId = unique('c');
    const kept = { clientId, clean: false, properties: { sessionExpiryInterval: 60 } };
    expect(await tryToConnect(urlAt(0), ada, kept)).toBeDefined();
    for (let at = 1; at < CONNECTIONS_MAX; at += 1) expect(await tryToConnect(urlAt(at), ada)).toBeDefined();
    for (let at = 0; at < 3; at += 1) expect(await tryToConnect(urlAt(at), ada, kept)).toBeDefined();
    for (let at = 0; at < 3; at += 1) expect(await tryToConnect(urlAt(at), ada)).toBeUndefined();
  });
});

describe('a large quota', needs('engine', program), () => {
  it('is available in full, though another process reserves some of it for its next clients [SEC-QUOTA-5]', async () => {
    const engine = await startEngine(program);
    const options = { ...OPTIONS, quotas: { identity: { subscriptionsMax: 4096 } } };
    const members = [await startMember(engine.url, options), await startMember(engine.url, options)] as const;
    onTestFinished(async () => {
      for (const member of members) await member.stop();
      await engine.stop();
    });
    const ada = `${unique('t')}/ada`;
    const [one, two] = [await tryToConnect(members[0].url, ada), await tryToConnect(members[1].url, ada)];
    const subscribe = async (client: RawClient | undefined, first: number, count: number) => {
      const subscriptions = Array.from({ length: count }, (_, index) => ({
        topic: `t/${first + index}`,
        qos: 0,
      }));
      client?.send({ cmd: 'subscribe', messageId: 1, subscriptions });
      const answer = await client?.expect('suback');
      return ((answer?.granted ?? []) as number[]).filter((code) => code === 0).length;
    };
    expect(await subscribe(one, 0, 500)).toBe(500);
    expect(await subscribe(two, 0, 3000)).toBe(3000);
    expect(await subscribe(two, 3000, 596)).toBe(596);
    expect(await subscribe(two, 3596, 1)).toBe(0);
  });
});

describe('the rates of an identity', needs('engine', program), () => {
  const PER_SECOND = 40;
  const COUNT = 120;

  it('are those of one process, however many processes it sends to [SEC-QUOTA-1]', async () => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const options = {
      authenticator: byUserName,
      quotas: { identity: { publishesPerSecondMax: PER_SECOND } },
    };
    const members: RunningNode[] = [];
    onTestFinished(async () => {
      for (const member of members) await member.stop();
    });
    for (let count = 0; count < 3; count += 1) members.push(await startMember(engine.url, options));
    const ada = `${unique('t')}/ada`;
    const clients = await Promise.all(members.map(({ url }) => tryToConnect(url, ada)));
    const startedAtMs = performance.now();
    const sendAll = async (client: RawClient | undefined) => {
      for (let messageId = 1; messageId <= COUNT; messageId += 1)
        client?.send({ cmd: 'publish', topic: 't', qos: 1, messageId, payload: 'x' });
      for (let messageId = 1; messageId <= COUNT; messageId += 1) await client?.expect('puback');
    };
    await Promise.all(clients.map(sendAll));
    // Beside the rate: a burst of a second, and a tenth of a second and a packet at each process.
    const atOnce = PER_SECOND + 3 * (PER_SECOND / 10 + 1) + 1;
    const leastMs = ((3 * COUNT - atOnce) / PER_SECOND) * 1_000;
    expect(performance.now() - startedAtMs).toBeGreaterThan(leastMs);
  });
});

describe('the deliveries of an identity', needs('engine', program), () => {
  const [PER_SECOND, DELIVERIES] = [100, 600];
  const OF_IDENTITY = { identity: { deliveriesPerMinuteMax: 60 * PER_SECOND } };
  const OF_TENANT = {
    identity: { deliveriesPerMinuteMax: 0 },
    tenant: { deliveriesPerMinuteMax: 60 * PER_SECOND },
  };

  it.each([
    ['an identity', 'five subscribers are at another process', OF_IDENTITY, [5]],
    ['a tenant', 'five subscribers are at another process', OF_TENANT, [5]],
    ['an identity', 'each of three other processes has one subscriber', OF_IDENTITY, [1, 1, 1]],
    ['a tenant', 'each of three other processes has one subscriber', OF_TENANT, [1, 1, 1]],
  ])('are charged to %s also where %s [SEC-QUOTA-1]', async (_, __, quotas, subscribersElsewhere) => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const options = { authenticator: byUserName, quotas };
    const members: RunningNode[] = [];
    onTestFinished(async () => {
      for (const member of members) await member.stop();
    });
    for (let count = 0; count <= subscribersElsewhere.length; count += 1)
      members.push(await startMember(engine.url, options));
    const tenant = unique('t');
    for (const [index, subscribers] of subscribersElsewhere.entries())
      for (let count = 0; count < subscribers; count += 1) {
        const subscriber = await tryToConnect(members[index + 1]?.url ?? '', `${tenant}/s${index}${count}`);
        expect(subscriber && (await subscribed(subscriber, ['t']))).toBe(1);
      }
    const each = subscribersElsewhere.reduce((sum, count) => sum + count, 0);
    const messages = DELIVERIES / each;
    const publisher = await tryToConnect(members[0]?.url ?? '', `${tenant}/ada`);
    const startedAtMs = performance.now();
    for (let messageId = 1; messageId <= messages; messageId += 1)
      publisher?.send({ cmd: 'publish', topic: 't', qos: 1, messageId, payload: 'x' });
    for (let messageId = 1; messageId <= messages; messageId += 1) await publisher?.expect('puback');
    // Beside the rate: a burst of a second, and at each process a tenth of a second and the message that is under way.
    const atOnce = PER_SECOND + members.length * (PER_SECOND / 10 + each);
    const leastMs = ((DELIVERIES - 2 * atOnce) / PER_SECOND) * 1_000;
    expect(performance.now() - startedAtMs).toBeGreaterThan(leastMs);
  });
});

describe('the counts of a cluster', needs('engine', program), () => {
  const built = new Built();

  it('are released when a process that holds them is killed, also when its successor is killed next [SEC-QUOTA-5]', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'apus-quota-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const users = join(directory, 'users.json');
    const password = await hashPassword(Buffer.from('correct horse'));
    writeFileSync(
      users,
      JSON.stringify({ users: [{ name: 'ada', password, publish: ['#'], subscribe: ['#'] }] }),
    );
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const flags = ['--users', users, '--identity-connections-max', '2', '--identity-sessions-max', '3'];
    const start = () => built.serve(['--cluster', engine.url, ...flags]);
    const [one, two, three] = [await start(), await start(), await start()] as [Serving, Serving, Serving];
    const show = { password: 'correct horse' };
    const kept = { clean: false, properties: { sessionExpiryInterval: 60 }, ...show };
    const at = ({ url }: Serving, fields: object = show) =>
      tryToConnect(url, 'ada', { clientId: unique('ada-c'), ...fields });
    expect(await at(one, { ...kept, clientId: 'ada-kept' })).toBeDefined();
    expect(await at(one)).toBeDefined();
    expect(await at(two)).toBeUndefined();
    await one.stop('SIGKILL');
    // The connections are gone. The session that was kept counts at the process that took it over.
    let back: RawClient | undefined;
    await expect
      .poll(async () => {
        back ??= await at(two);
        return back !== undefined;
      }, ARRIVAL)
      .toBe(true);
    let other: RawClient | undefined;
    await expect
      .poll(async () => {
        other ??= await at(three);
        return other !== undefined;
      }, ARRIVAL)
      .toBe(true);
    expect(await at(three)).toBeUndefined();
    await other?.disconnect();
    await back?.disconnect();
    await two.stop('SIGKILL');
    const clients: RawClient[] = [];
    await expect
      .poll(async () => {
        const client = await at(three, {
          ...kept,
          clientId: clients.length === 0 ? 'ada-kept' : unique('ada-c'),
        });
        if (client !== undefined) clients.push(client);
        return clients.length;
      }, ARRIVAL)
      .toBe(2);
    expect(await at(three)).toBeUndefined();
  });

  it('are exact again when the engine was killed and has lost its last writes', async () => {
    const engine = await startEngine(program, ['--appendonly', 'yes', '--appendfsync', 'everysec']);
    onTestFinished(() => engine.stop());
    const members = [await startMember(engine.url, OPTIONS), await startMember(engine.url, OPTIONS)];
    onTestFinished(async () => {
      for (const member of members) await member.stop();
    });
    const ada = `${unique('t')}/ada`;
    const clients: (RawClient | undefined)[] = [];
    for (let count = 0; count < CONNECTIONS_MAX; count += 1)
      clients.push(await tryToConnect(members[count % 2]?.url ?? '', ada));
    await engine.kill('SIGKILL');
    await engine.start();
    for (const { url } of members) expect(await tryToConnect(url, ada)).toBeUndefined();
    await clients[0]?.disconnect();
    await expect.poll(async () => (await tryToConnect(members[1]?.url ?? '', ada)) !== undefined).toBe(true);
    expect(await tryToConnect(members[0]?.url ?? '', ada)).toBeUndefined();
  });
});
