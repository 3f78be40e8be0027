import { get } from 'node:http';
import { createFallback } from '@apus/client/fallback';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { seeded } from '../../../../test/support/cuttable.ts';
import { HostileProxy } from '../../../../test/support/hostile-proxy.ts';
import { BlockedWebSocket } from '../../../../test/support/http-wire.ts';
import { PATIENCE_MS } from '../../../../test/support/patience.ts';
import { BytesBudget } from '../../src/bytes-budget.ts';
import { SILENCE_MS_MAX } from '../../src/http-streams/http-link-limits.ts';
import { type NodeOptions, type RunningNode, startNode } from '../../src/index.ts';
import { FastScheduler } from '../support/fast-scheduler.ts';

/**
 * `APUS_FAULT_SEED=7 APUS_FAULT_SECONDS=600 npx vitest run FILE` runs each test with the seeds 7, 8, 9 … for ten
 * minutes. By default it runs with one seed.
 */
const SECONDS = Number(process.env.APUS_FAULT_SECONDS ?? 0);
const SEED = Number(process.env.APUS_FAULT_SEED ?? 1);
const LIMIT = { timeout: SECONDS * 1_000 + 180_000 };
const PATIENT = { timeout: PATIENCE_MS, interval: 20 };

const FACTOR = 10;
const MESSAGES = 20;
const RECORDS = 60;

/** The bytes that each budget of the node holds. */
const sums = new Map<BytesBudget, number>();

beforeEach(() => {
  sums.clear();
  const { change } = BytesBudget.prototype;
  vi.spyOn(BytesBudget.prototype, 'change').mockImplementation(function (this: BytesBudget, bytes: number) {
    sums.set(this, (sums.get(this) ?? 0) + bytes);
    change.call(this, bytes);
  });
});

afterEach(() => vi.restoreAllMocks());

async function eachSeed(run: (seed: number) => Promise<void>): Promise<void> {
  const beganMs = performance.now();
  let seed = SEED;
  do {
    await run(seed).catch((error: unknown) => {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    });
    seed += 1;
  } while (performance.now() - beganMs < SECONDS * 1_000);
  if (SECONDS > 0) process.stdout.write(`The seeds ${SEED} to ${seed - 1} have passed.\n`);
}

/** Runs against a node behind a hostile proxy, and asks at the end that the node has nothing left of it. */
async function withProxy(
  seed: number,
  options: NodeOptions,
  run: (node: RunningNode, proxy: HostileProxy, random: () => number) => Promise<void>,
): Promise<void> {
  const clock = new FastScheduler(FACTOR);
  const limits = { connectTimeoutSeconds: 60, shutdownTimeoutSeconds: 0 };
  const node = await startNode({ port: 0, logLevel: 'silent', clock, ...limits, ...options });
  const random = seeded(seed);
  const proxy = await HostileProxy.start(node.url, random);
  const idle = clock.pending;
  try {
    await run(node, proxy, random);
    await proxy.stop();
    const connections = async () =>
      ((await (await fetch(new URL('/healthz', node.httpUrl))).json()) as { connections: number })
        .connections;
    await expect.poll(connections, PATIENT).toBe(0);
    expect([...sums.values()].filter((bytes) => bytes !== 0)).toEqual([]);
    // The one alarm of the broker for the ends of sessions stays set: its delay is longer than those of links.
    const isOfLinks = (delayMs: number) => delayMs <= SILENCE_MS_MAX && !idle.includes(delayMs);
    const left = () => clock.pending.filter(isOfLinks);
    await expect.poll(left, PATIENT).toEqual([]);
  } finally {
    await proxy.stop().catch(() => {});
    await node.stop();
  }
  expect(clock.pending).toEqual([]);
}

/** A stock client, the times that its connection has ended, and what it has received by topic. */
async function connect(proxy: HostileProxy, clientId: string) {
  const timers = {
    now: () => Date.now() * FACTOR,
    setTimeout: (callback: () => void, ms: number) => setTimeout(callback, ms / FACTOR),
    clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
    defer: (callback: () => void) => void setImmediate(callback),
  };
  const { createWebsocket } = createFallback({ WebSocket: BlockedWebSocket, timers });
  const client = mqtt.connect(`${proxy.origin.replace('http', 'ws')}/mqtt`, {
    ...{ protocolVersion: 5, clientId, clean: false, reconnectPeriod: 10, keepalive: 0, createWebsocket },
    properties: { sessionExpiryInterval: 3_000 },
  });
  const state = { client, closes: 0, received: new Map<string, string[]>() };
  let connects = 0;
  client.on('connect', () => {
    connects += 1;
  });
  client.on('error', () => {});
  client.on('close', () => {
    state.closes += 1;
  });
  client.on('message', (topic, payload, { dup }) => {
    // mqtt.js hands over what it has read when it has told the close already.
    const text = `${payload.toString().split(' x', 1)[0]} ${connects} ${Number(dup)}`;
    state.received.set(topic, [...(state.received.get(topic) ?? []), text]);
  });
  await new Promise<void>((resolve) => client.once('connect', () => resolve()));
  return state;
}

type State = Awaited<ReturnType<typeof connect>>;

/** Publishes one message after another, each with the publisher's count of connections. */
async function publishAll({ client }: State, count: () => number, topic: string, random: () => number) {
  const qos = Number(topic.at(-1)) as 0 | 1 | 2;
  for (let number = 1; number <= MESSAGES; number += 1) {
    const payload = `${number} ${count()} ${'x'.repeat(Math.floor(random() * 5_000))}`;
    // mqtt.js gives up a message of QoS 0 whose connection ends.
    await client.publishAsync(topic, payload, { qos }).catch((error) => expect(qos, error).toBe(0));
    if (qos === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const TOPICS = ['a/0', 'a/1', 'b/1', 'a/2', 'b/2'];

/** Sentences, one for each broken promise. A received text is `NUMBER CLOSES-OF-PUBLISHER CONNECTS-OF-READER DUP`. */
function broken(topic: string, texts: readonly string[]): string[] {
  const found: string[] = [];
  let last = [0, 0, 0];
  for (const text of texts) {
    const next = text.split(' ').map(Number);
    const [number = 0, published, read, dup] = next;
    const [before = 0] = last;
    const isSameWay = published === last[1] && read === last[2];
    if (number === before + 1 || (topic.endsWith('0') && number > before && !isSameWay)) last = next;
    // [MQTT-3.3.1-1]
    else if (!(topic.endsWith('1') && number <= before && dup === 1))
      found.push(`${topic}: ${text} after ${last}`);
  }
  if (!topic.endsWith('0') && last[0] !== MESSAGES) found.push(`${topic}: ends with ${last}`);
  return found;
}

describe('through a hostile proxy', () => {
  test('stock mqtt.js loses nothing, and nothing stays behind [SEC-LINK-1]', LIMIT, () =>
    eachSeed((seed) =>
      withProxy(seed, {}, async (node, proxy, random) => {
        const reader = await connect(proxy, 'reader');
        const publisher = await connect(proxy, 'publisher');
        for (const topic of TOPICS) {
          const qos = Number(topic.at(-1)) as 0 | 1 | 2;
          const subscribe = () => reader.client.subscribeAsync(topic, { qos }).catch(() => undefined);
          // mqtt.js sends no SUBSCRIBE again.
          await expect.poll(subscribe, PATIENT).toBeDefined();
        }
        await Promise.all(
          TOPICS.map((topic) => publishAll(publisher, () => publisher.closes, topic, random)),
        );
        proxy.becomeKind();
        const all = () => TOPICS.flatMap((topic) => broken(topic, reader.received.get(topic) ?? []));
        await expect.poll(all, PATIENT).toEqual([]);
        for (const { client } of [publisher, reader]) {
          await client.endAsync();
          // The link may have ended before DISCONNECT: this ends the session.
          const { clientId = '' } = client.options;
          const last = await mqtt.connectAsync(node.url, { protocolVersion: 5, clientId, clean: true });
          await last.endAsync();
        }
      }),
    ),
  );

  test('readers of event streams get each record once and in order', LIMIT, () =>
    eachSeed((seed) =>
      withProxy(
        seed,
        { streams: [{ name: 'chat', topicFilter: 'chat/#', messagesMax: 1_000 }] },
        async (node, proxy, random) => {
          const readers = [new EventReader(proxy, 'chat/a'), new EventReader(proxy, 'chat/%23')];
          const publisher = await mqtt.connectAsync(node.url, { protocolVersion: 5 });
          await expect.poll(() => readers.every(({ id }) => id !== undefined), PATIENT).toBe(true);
          const published: string[] = [];
          for (let number = 1; number <= RECORDS; number += 1) {
            const topic = `chat/${'abc'[Math.floor(random() * 3)]}`;
            const text = `${topic} ${number}`;
            published.push(text);
            await publisher.publishAsync(topic, `${text} ${'x'.repeat(random() * 3_000)}`, { qos: 1 });
            await new Promise((resolve) => setTimeout(resolve, random() * 20));
          }
          const of = (texts: readonly string[], room: string) =>
            texts.filter((text) => text.startsWith(`chat/${room}`));
          for (const [index, rooms] of ['a', 'abc'].entries())
            for (const room of rooms)
              await expect
                .poll(() => of(readers[index]?.texts ?? [], room), PATIENT)
                .toEqual(of(published, room));
          for (const reader of readers) {
            expect(reader.texts.filter((text) => !text.startsWith('chat/'))).toEqual([]);
            reader.stop();
          }
          await publisher.endAsync();
        },
      ),
    ),
  );
});

/** A reader as `EventSource` is one: it comes back with the last id, also when it was told nothing for a while. */
class EventReader {
  /** The first two words of payloads, and the types of other events. */
  readonly texts: string[] = [];
  id: string | undefined;
  readonly #url: string;
  #isStopped = false;
  #cut = () => {};

  constructor(proxy: HostileProxy, topic: string) {
    this.#url = `${proxy.origin}/api/v5/events?topic=${topic}`;
    this.#open();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cut();
  }

  #open(): void {
    if (this.#isStopped) return;
    const headers = this.id === undefined ? {} : { 'last-event-id': this.id };
    // The node sends a heartbeat each 15 s.
    const request = get(this.#url, { headers, agent: false, timeout: (2 * 15_000) / FACTOR });
    this.#cut = () => request.destroy();
    request.on('timeout', () => request.destroy());
    request.on('error', () => {});
    request.on('close', () => setTimeout(() => this.#open(), 10));
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', () => {});
      response.on('data', (chunk: string) => {
        if (response.statusCode !== 200 || this.#isStopped) return;
        const blocks = (text + chunk).split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) this.#take(block);
      });
    });
  }

  #take(block: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
    this.id = field('id') ?? this.id;
    const data = field('data');
    if (data === undefined) return;
    const type = field('event');
    const { payload = '' } = JSON.parse(data) as { payload?: string };
    // The stream ends: the reader comes back.
    if (type !== 'end') this.texts.push(type ?? payload.split(' ').slice(0, 2).join(' '));
  }
}
