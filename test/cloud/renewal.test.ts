import { type Identity, type Refusal, rulesAuthorizer, rulesOfLists } from '@apus/broker';
import { connect as connectInTextFrames, type TransportEvent } from '@apus/client';
import { Handshakes, handshakeAuthenticator } from '@apus/identity';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualTime } from '../faults/virtual-time.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

/** A machine that is busy may take its time; in virtual time it takes none. */
const TIMEOUT_MS = 120_000;

const LIFE_SECONDS = 600;
const DAY_SECONDS = 86_400;

interface Claims {
  readonly sub: string;
  readonly exp: number;
}

/**
 * Accepts every token that has not expired. Other tests sign tokens, for which threads are needed that virtual time
 * does not control.
 */
const tokens = {
  async verify(token: string): Promise<Identity | Refusal> {
    const { sub, exp }: Claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    if (exp * 1_000 <= Date.now()) return { refused: 0x87, reason: 'The token has expired.' };
    const rules = rulesOfLists(['#'], ['#']);
    return { tenant: 'default', name: sub, rules, expiresAtMs: exp * 1_000 };
  },
};

function tokenOf(sub: string, lifeSeconds = LIFE_SECONDS): string {
  const iat = Math.floor(Date.now() / 1_000);
  const payload = Buffer.from(JSON.stringify({ sub, iat, exp: iat + lifeSeconds })).toString('base64url');
  return `e30.${payload}.x`;
}

/** Events that a program notices of its client, but for messages. */
const EVENTS = ['connect', 'reconnect', 'close', 'disconnect', 'offline', 'error', 'end'] as const;

/** A program with stock mqtt.js, through the transport. */
class Program {
  readonly mqtt: mqtt.MqttClient;
  readonly received: string[] = [];
  readonly noticed: string[] = [];
  readonly events: TransportEvent[] = [];
  readonly asked: number[] = [];
  token: () => string | Promise<string>;

  constructor(name: string, options: mqtt.IClientOptions = {}, token = (): string => tokenOf(name)) {
    this.token = token;
    this.mqtt = connectInTextFrames(
      mqtt,
      world.url,
      { protocolVersion: 5, clientId: name, ...options },
      {
        WebSocket: world.emulator.WebSocket,
        page: {},
        token: () => {
          this.asked.push(Date.now());
          return this.token();
        },
        onEvent: (event) => this.events.push(event),
      },
    );
    this.mqtt.on('message', (_topic, payload) => this.received.push(payload.toString()));
    for (const name of EVENTS) {
      this.mqtt.on(name, (what?: unknown) => this.noticed.push(`${name}${reasonOf(what)}`));
    }
    programs.push(this);
  }

  told(type: TransportEvent['type']): number {
    return this.events.filter((event) => event.type === type).length;
  }
}

function reasonOf(what: unknown): string {
  const { code, reasonCode, cmd } = (what ?? {}) as { code?: unknown; reasonCode?: number; cmd?: unknown };
  if (cmd === 'connack') return '';
  if (reasonCode !== undefined) return ` 0x${reasonCode.toString(16)}`;
  return code === undefined ? '' : ` ${code}`;
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
    }),
  );
});
afterEach(async () => {
  for (const { mqtt } of programs.splice(0)) mqtt.end(true);
  await time.advance(1_000);
  world.stop();
  time.restore();
  expect(world.failures).toEqual([]);
});

const seconds = (count: number): Promise<void> => time.advance(count * 1_000);

/** Connected and subscribed, without any event yet. */
async function subscribed(program: Program): Promise<Program> {
  await seconds(1);
  program.mqtt.subscribe('news', { qos: 1 });
  await seconds(5);
  expect(program.noticed).toEqual(['connect']);
  program.noticed.length = 0;
  return program;
}

/** Publishes a number at an interval, from a client whose own token does not end. */
async function publishNumbers(count: number, everySeconds: number): Promise<string[]> {
  const publisher = new Program('paul', {}, () => tokenOf('paul', DAY_SECONDS));
  await seconds(1);
  const numbers = Array.from({ length: count }, (_, index) => String(index));
  for (const number of numbers) {
    publisher.mqtt.publish('news', number, { qos: 1 });
    await seconds(everySeconds);
  }
  return numbers;
}

describe('a program of MQTT 5', () => {
  it(
    'runs through three lifetimes of its token without a disconnect or a lost message',
    async () => {
      const program = await subscribed(new Program('ada'));
      const numbers = await publishNumbers(92, 20);
      expect(program.received).toEqual(numbers);
      expect(program.noticed).toEqual([]);
      expect(program.told('renewed')).toBeGreaterThanOrEqual(3);
      expect(program.asked).toHaveLength(1 + program.told('renewed'));
    },
    TIMEOUT_MS,
  );

  it(
    'that publishes all the while loses no message either, whichever frame carries AUTH',
    async () => {
      const reader = await subscribed(new Program('rita', {}, () => tokenOf('rita', DAY_SECONDS)));
      const program = new Program('ada', {}, () => tokenOf('ada', 60));
      await seconds(1);
      const numbers = Array.from({ length: 400 }, (_, index) => String(index));
      for (const number of numbers) {
        program.mqtt.publish('news', number, { qos: 1 });
        await time.advance(500);
      }
      await seconds(5);
      expect(reader.received).toEqual(numbers);
      expect(program.noticed).toEqual(['connect']);
      expect(program.told('renewed')).toBeGreaterThanOrEqual(3);
    },
    TIMEOUT_MS,
  );

  it(
    'whose new token names another identity is told 0x87, and its connection ends [MQTT-4.12.1-2]',
    async () => {
      const program = await subscribed(new Program('ada', { reconnectPeriod: 0 }));
      program.token = () => tokenOf('eve', 2 * LIFE_SECONDS);
      await seconds(LIFE_SECONDS);
      expect(program.noticed.slice(0, 2)).toEqual(['disconnect 0x87', 'close']);
      expect(program.told('renewed')).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    'that gets no new token ends with the old one, for a clear reason, and returns when there are tokens again',
    async () => {
      const program = await subscribed(new Program('ada'));
      program.token = () => Promise.reject(new Error('the issuer is away'));
      await seconds(LIFE_SECONDS - 20);
      expect(program.noticed).toEqual([]);
      expect(program.told('not-renewed')).toBeGreaterThan(2);
      await seconds(20);
      expect(program.noticed[0]).toBe('error token-expired');
      expect(program.mqtt.connected).toBe(false);
      program.token = () => tokenOf('ada');
      await seconds(180);
      expect(program.mqtt.connected).toBe(true);
      await publishNumbers(1, 5);
      expect(program.received).toEqual(['0']);
    },
    TIMEOUT_MS,
  );

  it(
    'whose token has expired before the handshake asks for another one, and connects with it',
    async () => {
      const program = new Program('ada', {}, () => tokenOf('ada', -10));
      await seconds(10);
      expect(program.mqtt.connected).toBe(false);
      const { length } = program.asked;
      expect(length).toBeGreaterThan(1);
      program.token = () => tokenOf('ada');
      await seconds(130);
      expect(program.mqtt.connected).toBe(true);
      expect(program.asked.length).toBeGreaterThan(length);
    },
    TIMEOUT_MS,
  );
});

describe('a program of MQTT 3.1.1', () => {
  it(
    'moves to a connection with a new token before the old one expires, without a disconnect or a lost message',
    async () => {
      const session = { protocolVersion: 4, clean: false } as const;
      const program = await subscribed(new Program('ada', session));
      const numbers = await publishNumbers(92, 20);
      expect(program.received).toEqual(numbers);
      expect(program.noticed).toEqual([]);
      expect(program.told('moved')).toBeGreaterThanOrEqual(3);
      expect(program.asked).toHaveLength(1 + program.told('moved'));
    },
    TIMEOUT_MS,
  );
});
