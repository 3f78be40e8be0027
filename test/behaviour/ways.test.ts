import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RulesAuthorizer, type WayIn, type WayOut } from '@apus/broker';
import { hashPassword, readIdentity, UsersAuthenticator, WatchedUsersFile } from '@apus/identity';
import { readTopics, TopicCatalogue } from '@apus/topics';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { doorUnderTest } from '../support/door.ts';
import { notInACluster } from '../support/only-at.ts';
import { RawClient } from '../support/raw-client.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { connect as connectPacket, TextClient } from '../support/text-client.ts';
import { unique } from '../support/unique.ts';
import { type Fields, type Peers, publish, subscribe, usePeers } from './raw/peers.ts';
import { TOKEN_METHOD } from './raw/tokens.ts';

/** A row whose test is elsewhere: that file names the way and the claim. `test/docs/ways.test.ts` looks. */
interface Elsewhere {
  readonly file: string;
  readonly claim: string;
}

const KEY = 'a-key-of-more-than-22-characters';
const SECRET = 'a secret of at least thirty-two bytes';
const ISSUED_AT_S = Date.UTC(2026, 0, 31) / 1000;
const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);

/** Bans, and ends them with the test. */
async function ban(peers: Peers, entry: Record<'as' | 'who', string> & Fields): Promise<void> {
  const url = new URL('/api/v5/banned', peers.httpUrl());
  const headers = { authorization: `Bearer ${KEY}` };
  const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(entry) });
  expect(status).toBe(200);
  onTestFinished(async () => {
    const path = `/api/v5/banned/${entry.as}/${encodeURIComponent(entry.who)}`;
    await fetch(new URL(path, peers.httpUrl()), { method: 'DELETE', headers });
  });
}

ownDoor(`a way in (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const identity = readIdentity({ authenticators: [{ jwt: { secret: SECRET } }] }, 'identity');
  const topics = new TopicCatalogue(readTopics({ topics: [{ topic: 'news', subscribe: 'All' }] }));
  const peers = usePeers({ identity, topics, apiKey: KEY });

  /** A user with two tokens: one that stays good, and one that is shown at the way in and may be revoked. */
  interface Subject {
    readonly name: string;
    readonly own: string;
    readonly shown: string;
  }
  /** Prepares to come in, and returns the step in which the token is shown: whether its holder is in then. */
  type Entry = (subject: Subject) => Promise<() => Promise<boolean>>;

  const tokenOf = async (name: string, jti: string, issuedAtS: number): Promise<string> =>
    await new SignJWT({ sub: name, jti, publish: ['#'], subscribe: ['#'] })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuedAt(issuedAtS)
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(SECRET));

  async function connected(url: string, fields: Fields = {}): Promise<RawClient | undefined> {
    const outcome = await RawClient.connect(url, { clientId: '', ...fields }).catch(() => undefined);
    if (outcome === undefined) return undefined;
    onTestFinished(() => outcome.client.close());
    return outcome.connack.reasonCode === 0 ? outcome.client : undefined;
  }

  const auth = (reasonCode: number, token: string): Fields => ({
    cmd: 'auth',
    reasonCode,
    properties: { authenticationMethod: TOKEN_METHOD, authenticationData: Buffer.from(token) },
  });

  const overHttp =
    (path: string): Entry =>
    async ({ shown }) =>
    async () => {
      const headers = { authorization: `Bearer ${shown}` };
      const { status, body } = await fetch(new URL(path, peers.httpUrl()), { headers });
      await body?.cancel();
      return status === 200;
    };

  /** A second connection goes on with the session of a first one, by a frame with its ticket. */
  const goingOn =
    (mark: string): Entry =>
    async ({ name, own, shown }) => {
      const open = async (token: string) =>
        await TextClient.open(`${peers.url()}?token=${token}`, 5, '(nudge,move,resume)').catch(
          () => undefined,
        );
      const first = await open(own);
      const reply = await first?.exchange(connectPacket({ clientId: name }));
      const [ticket = ''] = (reply?.move ?? '').split(',');
      const second = await open(shown);
      if (mark === '~!') await first?.vanish();
      return async () => {
        second?.sendText(`${mark}${ticket}`);
        const answer = await second?.replies.next().catch(() => undefined);
        return answer?.move !== undefined && !answer.move.startsWith('!');
      };
    };

  const WAYS: Readonly<Record<WayIn, Entry | Elsewhere>> = {
    handshake:
      async ({ shown }) =>
      async () =>
        (await connected(`${peers.url()}?token=${shown}`)) !== undefined,
    CONNECT:
      async ({ name, shown }) =>
      async () =>
        (await connected(peers.url(), { username: name, password: shown })) !== undefined,
    AUTH: async ({ own, shown }) => {
      const client = await connected(peers.url(), { properties: auth(0, own).properties });
      return async () => {
        client?.send(auth(0x19, shown));
        const answer = await client?.next().catch(() => undefined);
        // Not authorized, or the ban itself has ended the connection meanwhile.
        if (answer?.cmd === 'disconnect') expect([0x87, 0x98]).toContain(answer.reasonCode);
        return answer?.cmd === 'auth';
      };
    },
    move: goingOn('~'),
    resume: goingOn('~!'),
    'HTTP API': overHttp('/api/v5/clients'),
    document: overHttp('/api/v5/asyncapi.json'),
    'event stream': overHttp('/api/v5/events?topic=news'),
    // Its page holds nothing: it reads the document with the token of its visitor.
    portal: overHttp('/api/v5/asyncapi.json'),
    'publish URL': { file: 'packages/aws/test/publish/banned.test.ts', claim: 'SEC-BAN-3' },
    'operators’ URL': { file: 'test/cloud/api-access.test.ts', claim: 'SEC-API-1' },
  };

  /** The API knows one key, which is the operator's: tokens of clients never open it. */
  const OPERATORS_ALONE: readonly string[] = ['HTTP API'];
  const OF_GATEWAY: readonly string[] = ['move', 'resume'];
  const entries = Object.entries(WAYS).filter(
    (entry): entry is [WayIn, Entry] =>
      typeof entry[1] === 'function' && (doorUnderTest === 'gateway' || !OF_GATEWAY.includes(entry[0])),
  );

  const subject = async (): Promise<Subject & { readonly jti: string }> => {
    const [name, jti] = [unique('ann'), unique('jti')];
    const own = await tokenOf(name, unique('jti'), ISSUED_AT_S + 60);
    return { name, jti, own, shown: await tokenOf(name, jti, ISSUED_AT_S) };
  };

  describe.each(entries)('%s', (way, prepare) => {
    it(`lets the holder of a good token in: ${!OPERATORS_ALONE.includes(way)} [SEC-WAY-3]`, async () => {
      const enter = await prepare(await subject());
      expect(await enter()).toBe(!OPERATORS_ALONE.includes(way));
    });

    it.each([
      ['a revoked token', ({ jti }: { jti: string }) => ({ as: 'token', who: jti })],
      [
        'a token from before the revocation of its name',
        ({ name }: { name: string }) => ({
          ...{ as: 'username', who: name },
          issued_before: new Date((ISSUED_AT_S + 30) * 1000).toISOString(),
        }),
      ],
      ['a banned name', ({ name }: { name: string }) => ({ as: 'username', who: name })],
      ['a banned address', () => ({ as: 'peerhost', who: '127.0.0.1' })],
    ] as const)('refuses %s [SEC-WAY-3] [SEC-BAN-5]', async (_, entryOf) => {
      const who = await subject();
      const enter = await prepare(who);
      await ban(peers, entryOf(who as never));
      expect(await enter()).toBe(false);
    });
  });
});

ownDoor(`a way out (${OPTIONS_NEED_OUR_DOOR})`, notInACluster('the users file is of one process'), () => {
  const directory = mkdtempSync(join(tmpdir(), 'apus-ways-'));
  const path = join(directory, 'users.json');
  const users = new Map<string, Fields>();
  let password = '';
  let file: WatchedUsersFile;
  const options = {
    apiKey: KEY,
    streams: [{ name: 'log', topicFilter: 'log/#' }],
    get usersFile() {
      return file;
    },
    get authenticator() {
      return new UsersAuthenticator({ users: file, tenant: 'default', clock: Date });
    },
    get authorizer() {
      return new RulesAuthorizer(({ name }) => file.get(name)?.rules);
    },
  };
  /** The rules of a user, which count at once. */
  async function rules(
    name: string,
    publish: readonly string[],
    subscribe: readonly string[],
  ): Promise<void> {
    users.set(name, { name, password, publish, subscribe });
    writeFileSync(path, JSON.stringify({ users: [...users.values()] }));
    await file?.look();
  }

  beforeAll(async () => {
    password = await hashPassword(Buffer.from('secret'));
    await rules('bob', ['#'], ['#']);
    file = new WatchedUsersFile(path);
  });
  afterAll(() => rmSync(directory, { recursive: true }));
  const peers = usePeers(options);

  const connect = async (name: string, fields: Fields = {}): Promise<RawClient> =>
    (await peers.connect({ username: name, password: 'secret', clientId: name, ...fields })).client;
  const asBob = () => connect('bob', { clientId: unique('bob-') });
  /** Publishes as somebody who may. */
  async function told(...messages: Fields[]): Promise<void> {
    const bob = await asBob();
    for (const message of messages) await publish(bob, { qos: 1, ...message });
    await bob.disconnect();
  }
  const stays = { clean: false, properties: { sessionExpiryInterval: 60 } };

  /** The user of a row, whose right is taken away, and the topic that it is about. */
  interface Subject {
    readonly name: string;
    readonly topic: string;
  }
  /** Prepares a message that has not left; returns the step in which it would leave, and the payloads that do. */
  type Exit = (subject: Subject) => Promise<() => Promise<readonly string[]>>;

  /** What a client has received when the broker has answered a PINGREQ; nothing, if its connection has ended. */
  async function receivedBy(client: RawClient, packets: readonly Fields[] = []): Promise<readonly string[]> {
    const payloads: string[] = [];
    for (const packet of packets) client.send(packet);
    client.send({ cmd: 'pingreq' });
    for (;;) {
      const packet = await client.next().catch(() => undefined);
      if (packet === undefined || packet.cmd === 'pingresp') return payloads;
      if (packet.cmd !== 'publish') continue;
      payloads.push(String(packet.payload));
      if (packet.qos === 1) client.send({ cmd: 'puback', messageId: packet.messageId });
      client.send({ cmd: 'pingreq' });
      await Promise.resolve();
    }
  }

  /** A publisher's message that waits, with a marker behind it that another publisher sends in the same way. */
  const waiting =
    (
      leave: (client: RawClient, topic: string, payload: string, delaySeconds: number) => Promise<void>,
      fields: (topic: string, payload: string, delaySeconds: number) => Fields,
    ): Exit =>
    async ({ name, topic }) => {
      const watcher = await asBob();
      await subscribe(watcher, topic, { qos: 1 });
      const send = async (as: string, payload: string, delaySeconds: number) => {
        const client = await connect(as, {
          clientId: unique(`${as}-`),
          ...stays,
          ...fields(topic, payload, delaySeconds),
        });
        await leave(client, topic, payload, delaySeconds);
      };
      await send(name, 'it', 1);
      return async () => {
        await send('bob', 'marker', 3);
        const payloads: string[] = [];
        while (payloads.at(-1) !== 'marker') payloads.push(String((await watcher.expect('publish')).payload));
        return payloads.slice(0, -1);
      };
    };

  const WAYS: Readonly<Record<WayOut, Exit | Elsewhere>> = {
    live: async ({ name, topic }) => {
      const reader = await connect(name);
      await subscribe(reader, topic, { qos: 1 });
      return async () => {
        await told({ topic, payload: 'it' });
        return await receivedBy(reader);
      };
    },
    queue: async ({ name, topic }) => {
      const away = await connect(name, stays);
      await subscribe(away, topic, { qos: 1 });
      await away.disconnect();
      await told({ topic, payload: 'it' });
      return async () => {
        const back = await connect(name, stays).catch(() => undefined);
        return back === undefined ? [] : await receivedBy(back);
      };
    },
    // More than a page: the first fills the window of the reader, and the second is read when it has acknowledged.
    retained: async ({ name, topic }) => {
      const topics = Array.from({ length: 40 }, (_, index) => `${topic}/${index}`);
      await told(...topics.map((each) => ({ topic: each, payload: 'it', retain: true })));
      const reader = await connect(name, { properties: { receiveMaximum: 1 } });
      await subscribe(reader, `${topic}/#`, { qos: 1 });
      const first = await reader.expect('publish');
      return async () => await receivedBy(reader, [{ cmd: 'puback', messageId: first.messageId }]);
    },
    // At the gateway door SUBACK brings all of it.
    history: async ({ name, topic }) => {
      const ofStream = `log/${topic}`;
      await told({ topic: ofStream, payload: 'it' });
      const reader = await connect(name);
      const properties = { userProperties: { rewind: '10' } };
      const subscriptions = [{ topic: ofStream, qos: 0, nl: false, rap: false, rh: 0 }];
      return async () =>
        await receivedBy(reader, [{ cmd: 'subscribe', messageId: 1, properties, subscriptions }]);
    },
    conflated: async ({ name, topic }) => {
      const conflating = async (as: string) => {
        const client = await connect(as, { clientId: unique(`${as}-`) });
        client.send({
          cmd: 'subscribe',
          messageId: 1,
          properties: { userProperties: { 'conflate-ms': '300' } },
          subscriptions: [{ topic, qos: 0, nl: false, rap: false, rh: 0 }],
        });
        await client.expect('suback');
        return client;
      };
      const [reader, marker] = [await conflating(name), await conflating('bob')];
      await told({ topic, payload: 'at once' }, { topic, payload: 'it' });
      for (const each of [reader, marker]) await each.expect('publish');
      return async () => {
        await marker.expect('publish');
        return await receivedBy(reader);
      };
    },
    will: waiting(
      (client) => client.vanish(),
      (topic, payload, willDelayInterval) => ({
        will: { topic, payload, qos: 1, retain: false, properties: { willDelayInterval } },
      }),
    ),
    delayed: waiting(
      (client, topic, payload, delaySeconds) =>
        publish(client, { topic: `$delayed/${delaySeconds}/${topic}`, payload, qos: 1 }),
      () => ({}),
    ),
    // A rule and a bridge take a message before its publisher is answered, who is asked as for every other message.
    rule: { file: 'packages/node/test/outlet.test.ts', claim: 'SEC-WAY-4' },
    bridge: { file: 'packages/node/test/outlet.test.ts', claim: 'SEC-WAY-4' },
  };

  const exits = Object.entries(WAYS).filter(
    (entry): entry is [WayOut, Exit] =>
      typeof entry[1] === 'function' && (doorUnderTest === 'node' || entry[0] !== 'conflated'),
  );

  async function subject(): Promise<Subject> {
    const who = { name: unique('ann'), topic: unique('t') };
    await rules(who.name, ['#'], ['#']);
    return who;
  }

  describe.each(exits)('%s', (_way, prepare) => {
    it('lets a message out that may leave [SEC-WAY-4]', async () => {
      const leave = await prepare(await subject());
      expect(await leave()).toContain('it');
    });

    it('holds a message whose publisher or reader has lost the right to it [SEC-WAY-4] [SEC-RULES-9]', async () => {
      const who = await subject();
      const leave = await prepare(who);
      await rules(who.name, [], []);
      expect(await leave()).toEqual([]);
    });

    it('holds a message whose publisher or reader is banned [SEC-WAY-4]', async () => {
      const who = await subject();
      const leave = await prepare(who);
      await ban(peers, { as: 'username', who: who.name });
      expect(await leave()).toEqual([]);
    });
  });
});
