import { createFallback, type FallbackOptions } from '@apus/client/fallback';
import { type RunningNode, startNode } from '@apus/node';
import * as mqtt from 'mqtt';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { HttpProxy, type ProxyRules } from '../support/http-proxy.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { unique } from '../support/unique.ts';

/** The longest time until a client behind a proxy without WebSockets is connected. */
const SWITCH_MS_MAX = 3_000;
const ARRIVAL = { timeout: PATIENCE_MS, interval: 10 };
const BLOCKED = { upgrade: 403 } as const;

async function proxied(target: string | readonly string[], rules: ProxyRules): Promise<HttpProxy> {
  const proxy = await HttpProxy.start(target, rules);
  onTestFinished(() => proxy.stop());
  return proxy;
}

async function connected(url: string, options: mqtt.IClientOptions = {}, fallback: FallbackOptions = {}) {
  const { createWebsocket, statistics } = createFallback(fallback);
  const all = { protocolVersion: 5, ...options, createWebsocket } as const;
  const client = await mqtt.connectAsync(url, all, false);
  onTestFinished(() => client.endAsync());
  const texts: string[] = [];
  client.on('message', (_topic, payload) => texts.push(payload.toString()));
  return { client, statistics, texts };
}

describe('stock mqtt.js behind a proxy', () => {
  let node: RunningNode;

  beforeAll(async () => {
    node = await startNode({ port: 0 });
  });

  afterAll(async () => {
    await node.stop();
  });

  it.each([400, 403, 502, 'hang'] as const)(
    'that answers upgrades with %s is connected within 3 s',
    async (upgrade) => {
      const proxy = await proxied(node.url, { upgrade });
      const wires: string[] = [];
      const beganMs = performance.now();
      const { client, statistics, texts } = await connected(
        proxy.url,
        {},
        { onWire: (wire) => wires.push(wire) },
      );
      expect(performance.now() - beganMs).toBeLessThan(SWITCH_MS_MAX);
      expect(statistics).toMatchObject({ wire: 'http', opened: { websocket: 0, http: 1 } });
      await expect.poll(() => wires, ARRIVAL).toEqual(['http']);
      expect(proxy.upgrades).toBe(2);
      const topic = unique('t');
      await client.subscribeAsync(`${topic}/#`, { qos: 2 });
      for (const qos of [0, 1, 2] as const) await client.publishAsync(`${topic}/${qos}`, `${qos}`, { qos });
      await expect.poll(() => texts, ARRIVAL).toEqual(['0', '1', '2']);
    },
  );

  it('that holds whole responses back gets each message in a response of its own', async () => {
    const proxy = await proxied(node.url, { ...BLOCKED, isBuffering: true });
    const beganMs = performance.now();
    const { client, statistics, texts } = await connected(proxy.url);
    expect(performance.now() - beganMs).toBeLessThan(SWITCH_MS_MAX);
    const topic = unique('t');
    await client.subscribeAsync(topic, { qos: 1 });
    for (let count = 0; count < 20; count += 1) await client.publishAsync(topic, `${count}`, { qos: 1 });
    await expect.poll(() => texts, ARRIVAL).toEqual(Array.from({ length: 20 }, (_, count) => `${count}`));
    expect(statistics.isBuffered).toBe(true);
    expect(proxy.lines.filter((line) => line.startsWith('down'))).toHaveLength(1);
  });

  it('that cuts responses loses and repeats nothing, at QoS 0 too', async () => {
    const proxy = await proxied(node.url, { ...BLOCKED, cutAfterMs: 30 });
    const { client, texts } = await connected(proxy.url);
    const topic = unique('t');
    await client.subscribeAsync(topic);
    const all = Array.from({ length: 300 }, (_, count) => `${count} ${'x'.repeat(1_000)}`);
    for (const text of all) await client.publishAsync(topic, text, { qos: 0 });
    await expect.poll(() => texts.length, ARRIVAL).toBe(300);
    expect(texts).toEqual(all);
    expect(proxy.lines.filter((line) => /^(?:down|poll)/.test(line)).length).toBeGreaterThan(2);
    expect(client.connected).toBe(true);
  });

  it('that loses the answer of a POST has it repeated, and its messages are published once', async () => {
    const proxy = await proxied(node.url, BLOCKED);
    const { client, texts } = await connected(proxy.url);
    const topic = unique('t');
    await client.subscribeAsync(topic);
    for (const text of ['a', 'b', 'c']) {
      proxy.rules.losesAnswerOf = /^up/;
      await client.publishAsync(topic, text, { qos: 0 });
      await expect.poll(() => texts.at(-1), ARRIVAL).toBe(text);
    }
    expect(texts).toEqual(['a', 'b', 'c']);
  });

  it('whose connections are all cut keeps its connection to the broker', async () => {
    const proxy = await proxied(node.url, BLOCKED);
    const { client, texts } = await connected(proxy.url);
    let closes = 0;
    client.on('close', () => {
      closes += 1;
    });
    const topic = unique('t');
    await client.subscribeAsync(topic, { qos: 1 });
    for (const text of ['a', 'b', 'c']) {
      proxy.cut();
      await client.publishAsync(topic, text, { qos: 1 });
    }
    await expect.poll(() => texts, ARRIVAL).toEqual(['a', 'b', 'c']);
    expect(closes).toBe(0);
  });

  it('sends and receives large messages', async () => {
    const proxy = await proxied(node.url, BLOCKED);
    const { client, texts } = await connected(proxy.url);
    const topic = unique('t');
    await client.subscribeAsync(topic, { qos: 1 });
    const all = ['a', 'b', 'c'].map((letter) => letter.repeat(700_000));
    await Promise.all(all.map((text) => client.publishAsync(topic, text, { qos: 1 })));
    await expect.poll(() => texts.length, ARRIVAL).toBe(3);
    expect(texts).toEqual(all);
  });

  it('goes back to a WebSocket with its session, and to HTTP again at the first refusal', async () => {
    const proxy = await proxied(node.url, { ...BLOCKED });
    const options = {
      ...{ clientId: unique('c'), clean: false, reconnectPeriod: 50 },
      properties: { sessionExpiryInterval: 300 },
    };
    const { client, statistics, texts } = await connected(proxy.url, options);
    const topic = unique('t');
    await client.subscribeAsync(topic, { qos: 1 });
    const { client: publisher } = await connected(node.url);
    const again = async (upgrade: 'pass' | 403) => {
      proxy.rules.upgrade = upgrade;
      client.stream.destroy();
      await publisher.publishAsync(topic, `${upgrade}`, { qos: 1 });
      await expect.poll(() => texts.at(-1), ARRIVAL).toBe(`${upgrade}`);
    };
    await again('pass');
    expect(statistics).toMatchObject({ wire: 'websocket', opened: { websocket: 1, http: 1 } });
    await again(403);
    expect(statistics.wire).toBe('http');
    expect(proxy.upgrades).toBe(2 + 1 + 2);
    // It remembers that WebSockets are blocked, and tries one.
    client.stream.destroy();
    await expect.poll(() => statistics.opened.http, ARRIVAL).toBe(3);
    expect(proxy.upgrades).toBe(2 + 1 + 2 + 1);
  });

  it('is not connected with `http: false`, and sends no request', async () => {
    const proxy = await proxied(node.url, BLOCKED);
    const { createWebsocket, statistics } = createFallback({ http: false });
    const client = mqtt.connect(proxy.url, { createWebsocket, reconnectPeriod: 0 });
    await new Promise<void>((resolve) => client.once('close', () => resolve()));
    expect(statistics).toMatchObject({ wire: undefined, requests: 0 });
    expect(proxy.upgrades).toBe(1);
    await client.endAsync();
  });

  it('uses a WebSocket where one opens, and sends no request', async () => {
    const { client, statistics, texts } = await connected(node.url);
    const topic = unique('t');
    await client.subscribeAsync(topic, { qos: 2 });
    await client.publishAsync(topic, 'a', { qos: 2 });
    await expect.poll(() => texts, ARRIVAL).toEqual(['a']);
    expect(statistics).toMatchObject({ wire: 'websocket', requests: 0 });
  });
});
