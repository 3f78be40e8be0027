import { type Ban, type Identity, rulesAuthorizer, rulesOfLists } from '@apus/broker';
import { connect as connectInTextFrames } from '@apus/client';
import { Handshakes, handshakeAuthenticator } from '@apus/identity';
import { createDynamoStores } from '@apus/store-dynamodb';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualTime } from '../faults/virtual-time.ts';
import { cases } from '../support/runs.ts';
import { TABLE } from './names.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

/** A busy machine may need longer; in virtual time the test takes none. */
const TIMEOUT_MS = 240_000;

/** The time that a ban may take to be effective. */
const MINUTE_MS = 60_000;

/** A filter with more is served by workers. */
const INLINE_SUBSCRIBERS_MAX = 3;

/** Of all tokens. */
const ISSUED_AT_MS = Date.UTC(2025, 11, 31);

/** A token is its name and its id: `anna.1`. Signatures of tokens are tested elsewhere. */
const tokens = {
  async verify(token: string): Promise<Identity> {
    const [name = '', tokenId = ''] = token.split('.');
    return { tenant: 'default', name, tokenId, rules: rulesOfLists(['#'], ['#']), issuedAtMs: ISSUED_AT_MS };
  },
};

/** A program with mqtt.js, which reconnects by itself. */
class Program {
  readonly mqtt: mqtt.MqttClient;
  /** The packets that it received, with their times. */
  readonly received: { readonly text: string; readonly atMs: number }[] = [];
  /** When its PUBLISH packets were acknowledged. */
  readonly acceptedAtMs: number[] = [];
  readonly disconnects: (number | undefined)[] = [];

  constructor(token: string, options: mqtt.IClientOptions = {}, address = '127.0.0.1') {
    this.mqtt = connectInTextFrames(
      mqtt,
      world.url,
      { protocolVersion: 5, reconnectPeriod: 1_000, ...options },
      { WebSocket: world.emulator.webSocketFrom(address), page: {}, token: () => token },
    );
    this.mqtt.on('error', () => {});
    this.mqtt.on('disconnect', ({ reasonCode }) => this.disconnects.push(reasonCode));
    this.mqtt.on('message', (_topic, payload) =>
      this.received.push({ text: payload.toString(), atMs: time.nowMs }),
    );
    this.mqtt.on('packetreceive', ({ cmd }) => {
      if (cmd === 'puback') this.acceptedAtMs.push(time.nowMs);
    });
    programs.push(this);
  }

  /** Subscribes, on each connection. */
  subscribe(filter: string, qos: 0 | 1 = 1): this {
    this.mqtt.on('connect', () => this.mqtt.subscribe(filter, { qos }));
    return this;
  }

  lastAtMs(): number {
    return Math.max(0, ...this.acceptedAtMs, ...this.received.map(({ atMs }) => atMs));
  }

  texts(from: string): string[] {
    return this.received.map(({ text }) => text).filter((text) => text.startsWith(from));
  }
}

let time: VirtualTime;
let world: InProcessWorld;
const programs: Program[] = [];

beforeEach(async () => {
  time = new VirtualTime(7);
  world = await time.during(
    startCloudInProcess({
      seed: 7,
      tokens,
      handshakes: new Handshakes({ chain: tokens, allowsPassword: false }),
      authenticator: handshakeAuthenticator,
      authorizer: rulesAuthorizer,
      inlineSubscribersMax: INLINE_SUBSCRIBERS_MAX,
    }),
  );
});
afterEach(async () => {
  for (const program of programs.splice(0)) program.mqtt.end(true);
  await time.advance(1_000);
  world.stop();
  time.restore();
  expect(world.failures).toEqual([]);
});

const seconds = (count: number): Promise<void> => time.advance(count * 1_000);

/** Publishes a number each second until it is stopped. */
function publishing(program: Program, topic: string): () => void {
  let number = 0;
  const timer = setInterval(
    () => program.mqtt.publish(topic, `${topic} ${number++}`, { qos: 1 }, () => {}),
    1_000,
  );
  return () => clearInterval(timer);
}

/** Stays away from now on, with a session that waits. */
async function leaveSession(token: string, clientId: string): Promise<void> {
  const away = new Program(token, { clientId, clean: false, properties: { sessionExpiryInterval: 86_400 } });
  away.subscribe('news');
  await seconds(5);
  away.mqtt.end();
  await seconds(1);
}

function connections(): number {
  return world.emulator.connectionIds().length;
}

const operate: InProcessWorld['operate'] = (...request) => time.during(world.operate(...request));

async function ban(body: object): Promise<unknown> {
  return (await time.during(world.operate('POST', '/banned', { body }), 2 * MINUTE_MS)).body;
}

describe('a minute after a ban', () => {
  it(
    'its clients can neither publish nor receive, however often they try; other clients are not affected',
    async () => {
      const bert = new Program('bert.1', { clientId: 'bert' }).subscribe('#');
      const idle = new Program('anna.1', { reconnectPeriod: 0 }).subscribe('news');
      const spammer = new Program('anna.2');
      await leaveSession('anna.3', 'anna-away');
      const stops = [publishing(bert, 'news'), publishing(spammer, 'spam')];
      await seconds(10);
      expect(bert.texts('spam').length).toBeGreaterThan(5);
      expect(idle.texts('news').length).toBeGreaterThan(5);
      const bannedAtMs = time.nowMs;
      const body = { as: 'username', who: 'anna', reason: 'spam' };
      const banning = world.operate('POST', '/banned', { body });
      // Environments that have not read the list yet admit some of their frames.
      const intruders: Program[] = [];
      for (let second = 0; second < 60; second += 2) {
        intruders.push(new Program(`anna.${second + 10}`, { reconnectPeriod: 0 }).subscribe('news'));
        await seconds(2);
      }
      expect(time.nowMs - bannedAtMs).toBe(MINUTE_MS);
      expect((await banning).body).toMatchObject({ ...body, is_complete: true });
      expect(intruders.some(({ received }) => received.length > 0)).toBe(true);
      await seconds(300);
      for (const program of [idle, spammer, ...intruders]) {
        expect(program.lastAtMs() - bannedAtMs).toBeLessThanOrEqual(MINUTE_MS);
        expect(program.mqtt.connected).toBe(false);
      }
      expect(idle.disconnects).toEqual([0x98]);
      expect(
        bert.received.filter(({ text, atMs }) => text.startsWith('spam') && atMs > bannedAtMs + MINUTE_MS),
      ).toEqual([]);
      for (const stop of stops) stop();
      expect(bert.mqtt.connected).toBe(true);
      expect(bert.texts('news').length).toBeGreaterThan(360);
      expect(connections()).toBe(1);
    },
    TIMEOUT_MS,
  );

  it(
    'a session that waited for its client is gone, with its messages',
    async () => {
      await leaveSession('anna.1', 'anna-away');
      await ban({ as: 'username', who: 'anna' });
      const bert = new Program('bert.1');
      await seconds(5);
      bert.mqtt.publish('news', 'kept?', { qos: 1 });
      await seconds(5);
      await operate('DELETE', '/banned/username/anna');
      await seconds(35);
      const back = new Program('anna.1', {
        clientId: 'anna-away',
        clean: false,
        properties: { sessionExpiryInterval: 86_400 },
      });
      const connack = new Promise<boolean>((resolve) =>
        back.mqtt.once('connect', ({ sessionPresent }) => resolve(sessionPresent)),
      );
      expect(await time.during(connack)).toBe(false);
      await seconds(5);
      expect(back.received).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

/** The operator's function has died after it wrote the list. */
async function banWithoutEnforcing(ban: Pick<Ban, 'as' | 'who'> & Partial<Ban>): Promise<void> {
  const client = new DynamoDBClient(world.dynamoDb.clientConfig());
  const { bans } = createDynamoStores({ client, tableName: TABLE });
  const whole: Ban = { tenant: 'default', by: '', reason: '', atMs: time.nowMs, ...ban };
  expect(await time.during(bans.add(whole))).toBe(true);
}

describe('a minute after a ban whose operator’s function has died', () => {
  const ANNA_IP = '192.0.2.1';

  it.each(
    cases<Pick<Ban, 'as' | 'who'> & Partial<Ban>>(
      [
        { as: 'username', who: 'anna' },
        { as: 'peerhost', who: ANNA_IP, tenant: '' },
      ],
      [
        { as: 'username', who: 'anna', issuedBeforeMs: ISSUED_AT_MS + 1_000 },
        { as: 'token', who: '1' },
        { as: 'clientid', who: 'anna-1' },
      ],
    ),
  )(
    'nothing more is posted to an idle connection, and the sweep closes it [SEC-BAN-2]: $as $who $issuedBeforeMs',
    async (ban) => {
      const others = ['carl', 'dora', 'emil'].map((name) => new Program(`${name}.9`).subscribe('wide'));
      await seconds(2);
      const options = { clientId: 'anna-1', reconnectPeriod: 0 };
      const idle = new Program('anna.1', options, ANNA_IP).subscribe('news').subscribe('wide');
      const stored = { clean: false, properties: { sessionExpiryInterval: 600 } };
      const kept = new Program('anna.1', { ...options, ...stored, clientId: 'anna-2' }, ANNA_IP);
      kept.subscribe('news', 0);
      const own = new Program('anna.2', { clientId: 'anna-3' }).subscribe('news');
      const bert = new Program('bert.2').subscribe('wide');
      await seconds(3);
      const stops = [publishing(bert, 'news'), publishing(bert, 'wide')];
      await seconds(10);
      for (const texts of [idle.texts('news'), idle.texts('wide'), kept.texts('news')])
        expect(texts.length).toBeGreaterThan(5);
      const bannedAtMs = time.nowMs;
      await banWithoutEnforcing(ban);
      await seconds(180);
      const lastAtMs = (program: Program) => program.lastAtMs() - bannedAtMs;
      expect(lastAtMs(idle)).toBeLessThanOrEqual(MINUTE_MS);
      if (ban.as !== 'clientid') expect(lastAtMs(kept)).toBeLessThanOrEqual(MINUTE_MS);
      if (ban.as !== 'username') expect(lastAtMs(own)).toBeGreaterThan(2 * MINUTE_MS);
      for (const each of [bert, ...others]) expect(lastAtMs(each)).toBeGreaterThan(2 * MINUTE_MS);
      for (const stop of stops) stop();
      await seconds(660);
      expect(idle.mqtt.connected).toBe(false);
      if (ban.as !== 'username') expect(own.mqtt.connected).toBe(true);
      expect(bert.mqtt.connected).toBe(true);
    },
    TIMEOUT_MS,
  );
});

describe('a ban of an address', () => {
  it(
    'closes its idle connections, and keeps their sessions, which may continue from another address [SEC-BAN-2]',
    async () => {
      const stored = { clean: false, properties: { sessionExpiryInterval: 600 }, reconnectPeriod: 0 };
      const idle = new Program('anna.1', { ...stored, clientId: 'anna-1' }, '192.0.2.1').subscribe('news');
      const other = new Program('bert.1', {}, '192.0.2.2');
      await seconds(5);
      expect(await ban({ as: 'peerhost', who: '192.0.2.1' })).toMatchObject({
        expelled: 1,
        is_complete: true,
      });
      expect([idle.mqtt.connected, other.mqtt.connected]).toEqual([false, true]);
      expect((await operate('GET', '/clients/anna-1')).body).toMatchObject({ connected: false });
    },
    TIMEOUT_MS,
  );
});

describe('a token that was revoked', () => {
  it(
    'ends with its connections, and leaves the other tokens of its name',
    async () => {
      const stolen = new Program('anna.stolen', { reconnectPeriod: 0 }).subscribe('news');
      const own = new Program('anna.own').subscribe('news');
      await seconds(5);
      const token = { as: 'token', who: 'stolen', reason: 'found in a log' };
      expect(await ban(token)).toMatchObject({ ...token, expelled: 1, is_complete: true });
      expect(stolen.disconnects).toEqual([0x87]);
      expect(stolen.mqtt.connected).toBe(false);
      own.mqtt.publish('news', 'mine', { qos: 1 });
      await seconds(5);
      expect(own.texts('mine')).toHaveLength(1);
      const again = new Program('anna.stolen', { reconnectPeriod: 0 });
      await seconds(5);
      expect(again.mqtt.connected).toBe(false);
    },
    TIMEOUT_MS,
  );
});

describe('the sweep', () => {
  it(
    'ends connections and sessions that an operator’s function left when it died',
    async () => {
      const idle = new Program('anna.1', { reconnectPeriod: 0 }).subscribe('news');
      await leaveSession('anna.2', 'anna-away');
      // The function has died after it wrote the list.
      const client = new DynamoDBClient(world.dynamoDb.clientConfig());
      const { bans } = createDynamoStores({ client, tableName: TABLE });
      const ban = { as: 'username', who: 'anna', tenant: 'default', by: '', reason: '', atMs: 0 } as const;
      expect(await time.during(bans.add(ban))).toBe(true);
      await seconds(5);
      expect(idle.mqtt.connected).toBe(true);
      await seconds(660);
      expect(idle.mqtt.connected).toBe(false);
      expect((await operate('GET', '/clients')).body).toMatchObject({ data: [] });
    },
    TIMEOUT_MS,
  );
});
