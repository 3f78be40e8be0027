import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import * as mqttPacket from 'mqtt-packet';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import { systemTimers } from '../src/environment.ts';
import {
  connect,
  createTransport,
  type Timers,
  type Transport,
  type TransportOptions,
} from '../src/index.ts';
import { type Link, MiniBroker } from './support/mini-broker.ts';
import { type Fate, TextGateway } from './support/text-gateway.ts';

const PATIENT = { timeout: PATIENCE_MS };

/** Random, and the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

let broker: MiniBroker;
let gateway: TextGateway;
let clients: MqttClient[];
let fate: (packets: readonly mqttPacket.Packet[]) => Fate;

beforeEach(async () => {
  broker = new MiniBroker();
  clients = [];
  fate = () => 'handle';
  const random = randomFrom(3);
  gateway = await TextGateway.start(broker, {
    handlerMs: () => random() * 12,
    pushMs: () => random() * 4,
    fate: (packets) => fate(packets),
  });
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.endAsync(true)));
  await gateway.stop();
  expect(gateway.violations).toEqual([]);
});

async function open(
  options: IClientOptions = {},
  transport: TransportOptions | Transport = {},
): Promise<MqttClient> {
  const client = connect(mqtt, gateway.url, options, transport);
  clients.push(client);
  await happens(client, 'connect');
  return client;
}

/** Resolves with the event's value when it happens. */
function happens(client: MqttClient, event: 'connect' | 'error'): Promise<unknown> {
  return new Promise((resolve) => client.once(event, resolve));
}

/**
 * The transport holds publishes for 5 s while a handler may still run, and gives up a frame without a reply after 8 s.
 */
const HOLD_MS = 5_000;
const NO_REPLY_MS = 8_000;

/** The system's timers; those of several seconds fire only when the test says so, so a slow machine changes nothing. */
class HeldTimers implements Timers {
  readonly #held = new Map<unknown, { readonly milliseconds: number; readonly callback: () => void }>();
  readonly now = systemTimers.now;
  readonly defer = systemTimers.defer;

  setTimeout(callback: () => void, milliseconds: number): unknown {
    if (milliseconds < 1_000) return systemTimers.setTimeout(callback, milliseconds);
    const timer = {};
    this.#held.set(timer, { milliseconds, callback });
    return timer;
  }

  clearTimeout(timer: unknown): void {
    if (!this.#held.delete(timer)) systemTimers.clearTimeout(timer);
  }

  /** Fires the timers of this many milliseconds, after the current events. */
  fire(milliseconds: number): void {
    setImmediate(() => {
      for (const [timer, held] of this.#held) {
        if (held.milliseconds !== milliseconds) continue;
        this.#held.delete(timer);
        held.callback();
      }
    });
  }
}

/** Resolves with all received messages once there are `count`. */
function collect(client: MqttClient, count: number): Promise<string[]> {
  const payloads: string[] = [];
  return new Promise((resolve) => {
    client.on('message', (_topic, payload) => {
      payloads.push(payload.toString());
      if (payloads.length === count) resolve(payloads);
    });
  });
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => `${index}`);

describe.each([4, 5] as const)('stock mqtt.js in Node.js, MQTT %i', (protocolVersion) => {
  test('reports a CONNACK that refuses as an error with its code', async () => {
    broker.refuseWith = protocolVersion === 5 ? 0x87 : 5;
    const client = connect(mqtt, gateway.url, { protocolVersion });
    clients.push(client);
    const error = await happens(client, 'error');
    expect(error).toMatchObject({ code: broker.refuseWith });
  });

  test('fails the callback of a publish that is too large; the publishes around it arrive', async () => {
    const client = await open({ protocolVersion });
    const large = Buffer.alloc(30_000);
    const [before, tooLarge, after] = await Promise.allSettled([
      client.publishAsync('a', 'before', { qos: 1 }),
      client.publishAsync('a', large, { qos: 1 }),
      client.publishAsync('a', 'after', { qos: 1 }),
    ]);
    expect([before.status, after.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(tooLarge).toMatchObject({ status: 'rejected', reason: { code: 'packet-too-large' } });
    await client.endAsync();
    expect(broker.published.map(({ payload }) => payload)).toEqual(['before', 'after']);
  });

  test('reports a publish of QoS 0 that is too large as an error of the client', async () => {
    const client = await open({ protocolVersion });
    const error = happens(client, 'error');
    client.publish('a', Buffer.alloc(30_000));
    expect(await error).toMatchObject({ code: 'packet-too-large' });
  });
});

describe('the end', () => {
  test('end() flushes: all publishes have been handled, and the callback comes after the close', async () => {
    const transport = createTransport();
    const client = await open({}, transport);
    for (const payload of numbers(2_000)) client.publish('a', payload.padEnd(100), { qos: 0 });
    await client.endAsync();
    expect(broker.published).toHaveLength(2_000);
    expect(broker.seen.at(-1)).toBe('disconnect');
    expect(transport.statistics.framesSent).toBeLessThan(30);
  });

  test('end(true) does not wait', async () => {
    fate = (packets) => (packets.some(({ cmd }) => cmd === 'publish') ? 'lose reply' : 'handle');
    // Neither the reply to the frame nor the end of the closing handshake ever comes.
    const client = await open({}, { timers: new HeldTimers() });
    client.publish('a', 'b', { qos: 1 });
    await client.endAsync(true);
    expect(client.connected).toBe(false);
  });

  test('no handle keeps the process alive', async () => {
    const timeouts = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timeouts();
    const client = await open();
    await client.publishAsync('a', 'b', { qos: 1 });
    await client.endAsync();
    // The gateway runs in this process too, and may still wait for the end of its own socket.
    while (gateway.connections > 0) await new Promise(setImmediate);
    expect(timeouts()).toBeLessThanOrEqual(before);
  });
});

describe.each([
  [4, 3, 5],
  [5, 0x88, 0x87],
] as const)('after a CONNACK that refuses, MQTT %i', (protocolVersion, passing, lasting) => {
  const refused = async (code: number, options: IClientOptions = {}): Promise<MqttClient> => {
    broker.refuseWith = code;
    const client = connect(mqtt, gateway.url, { protocolVersion, ...options });
    clients.push(client);
    expect(await happens(client, 'error')).toMatchObject({ code });
    return client;
  };

  test('the client returns if the reason may pass', async () => {
    const client = await refused(passing);
    broker.refuseWith = 0;
    await happens(client, 'connect');
  });

  test('the client stays away if its user has to correct something, also after a reason that may pass', async () => {
    const first = await refused(lasting);
    expect(first.options.reconnectOnConnackError).toBeFalsy();
    const second = await refused(passing);
    broker.refuseWith = lasting;
    expect(await happens(second, 'error')).toMatchObject({ code: lasting });
    expect(second.options.reconnectOnConnackError).toBe(false);
  });

  test('an option that the program sets stands', async () => {
    const client = await refused(lasting, { reconnectOnConnackError: true });
    broker.refuseWith = 0;
    await happens(client, 'connect');
    expect(client.options.reconnectOnConnackError).toBe(true);
  });
});

describe('reconnecting', () => {
  test.each([
    { name: 'MQTT 3.1.1', protocolVersion: 4, isAttached: false },
    { name: 'MQTT 3.1.1, a transport without `connect`', protocolVersion: 4, isAttached: true },
    { name: 'MQTT 5.0', protocolVersion: 5, isAttached: false },
  ] as const)(
    'subscribes again to each of many long filters: $name',
    async ({ protocolVersion, isAttached }) => {
      const errors: unknown[] = [];
      const transport = createTransport({ onEvent: (event) => event.type === 'error' && errors.push(event) });
      const { createWebsocket } = transport;
      const client = isAttached
        ? mqtt.connect(gateway.url, { protocolVersion, createWebsocket })
        : connect(mqtt, gateway.url, { protocolVersion }, transport);
      if (isAttached) transport.attach(client);
      clients.push(client);
      await happens(client, 'connect');
      const filters = numbers(300).map((number, index) =>
        `${number}/`.padEnd(20 + ((index * 37) % 900), 'é'),
      );
      await Promise.all(filters.map((filter) => client.subscribeAsync(filter)));
      const held = () => [...broker.sessions.values()].map(({ subscriptions }) => subscriptions.size);
      expect(held()).toEqual([300]);
      gateway.cut();
      await happens(client, 'connect');
      await expect.poll(held, PATIENT).toEqual([300]);
      // All at once.
      await client.unsubscribeAsync(filters.slice(0, 9));
      await client.subscribeAsync(filters);
      expect(held()).toEqual([300]);
      expect(errors).toEqual([]);
    },
  );

  test.each([1, 2] as const)('delivers a publish of QoS %i whose handler failed', async (qos) => {
    let failures = 1;
    fate = (packets) => (packets.some(({ cmd }) => cmd === 'publish') && failures-- > 0 ? 'fail' : 'handle');
    const timers = new HeldTimers();
    const client = await open({ clean: false, clientId: 'c' }, { timers });
    const error = happens(client, 'error');
    client.on('packetreceive', ({ cmd }) => cmd === 'connack' && timers.fire(HOLD_MS));
    await client.publishAsync('a', 'b', { qos });
    expect(await error).toMatchObject({ code: 'gateway-error' });
    expect(broker.published).toHaveLength(1);
  });

  test('does not double a publish of QoS 2 whose reply was lost', async () => {
    const timers = new HeldTimers();
    let losses = 1;
    fate = (packets) => {
      if (!packets.some(({ cmd }) => cmd === 'publish') || losses-- <= 0) return 'handle';
      timers.fire(NO_REPLY_MS);
      return 'lose reply';
    };
    const client = await open({ clean: false, clientId: 'c' }, { timers });
    const error = happens(client, 'error');
    client.on('packetreceive', ({ cmd }) => cmd === 'connack' && timers.fire(HOLD_MS));
    await client.publishAsync('a', 'b', { qos: 2 });
    expect(await error).toMatchObject({ code: 'no-reply' });
    expect(broker.published).toHaveLength(1);
  });

  test('loses and doubles nothing of frames that the server takes in part', async () => {
    const random = randomFrom(9);
    fate = (packets) =>
      packets.length > 3 && random() < 0.7 ? { take: Math.floor(random() * 4) + 1 } : 'handle';
    const client = await open();
    await client.subscribeAsync('a', { qos: 2 });
    const received = collect(client, 200);
    for (const payload of numbers(200)) client.publish('a', payload, { qos: 2 });
    expect(await received).toEqual(numbers(200));
  });
});

test('sends the heartbeat as Keep Alive', async () => {
  await open({ keepalive: 20 }, { heartbeatSeconds: 300 });
  expect(broker.keepAlives).toEqual([300]);
});

test('is stopped with a reason by a token that is refused in the handshake', async () => {
  const guarded = await TextGateway.start(broker, { handlerMs: () => 0, token: 'right' });
  const tokens = ['wrong', 'right'];
  const advice: string[] = [];
  const client = connect(
    mqtt,
    guarded.url,
    {},
    {
      token: () => tokens.shift() ?? 'right',
      onEvent: (event) => event.type === 'closed' && advice.push(event.advice),
    },
  );
  clients.push(client);
  await happens(client, 'connect');
  // Node.js's own WebSocket (24) tries twice if the server answers 401.
  expect([...new Set(guarded.queries)]).toEqual(['token=wrong', 'token=right']);
  expect(advice).toEqual([expect.stringContaining('token')]);
  await client.endAsync();
  await guarded.stop();
});

describe('beside a client over TCP in the same process', () => {
  let server: Server;
  beforeEach(async () => {
    server = createServer((socket) => {
      const link: Link = {
        version: 4,
        session: undefined,
        send: (packet) => void socket.write(mqttPacket.generate(packet)),
        close: () => void socket.end(),
      };
      const parser = mqttPacket.parser();
      parser.on('packet', (packet) => broker.handle(link, packet));
      socket.on('data', (data) => parser.parse(data));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => void server.close());

  test('both work, before and after it', async () => {
    const url = `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const first = mqtt.connect(url, { clientId: 'first' });
    clients.push(first);
    await happens(first, 'connect');
    await first.subscribeAsync('a', { qos: 1 });
    const client = await open();
    const last = mqtt.connect(url, { clientId: 'last' });
    clients.push(last);
    await happens(last, 'connect');
    const received = collect(first, 2);
    await client.publishAsync('a', 'through the gateway', { qos: 1 });
    await last.publishAsync('a', 'over TCP', { qos: 1 });
    expect(await received).toEqual(['through the gateway', 'over TCP']);
  });
});
