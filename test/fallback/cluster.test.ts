import { createFallback } from '@apus/client/fallback';
import type { RunningNode } from '@apus/node';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { HttpProxy } from '../support/http-proxy.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const ARRIVAL = { timeout: PATIENCE_MS, interval: 20 };

describe('HTTP requests in the place of a WebSocket, in a cluster', needs('engine', program), () => {
  let engine: TestEngine;
  let members: RunningNode[];

  beforeEach(async () => {
    engine = await startEngine(program);
    members = [await startMember(engine.url), await startMember(engine.url), await startMember(engine.url)];
  });

  afterEach(async () => {
    for (const member of members) await member.stop();
    await engine.stop();
  });

  /** A balancer that gives each request to the next process. */
  async function connect(options: mqtt.IClientOptions) {
    const proxy = await HttpProxy.start(
      members.map(({ url }) => url),
      { upgrade: 403 },
    );
    onTestFinished(() => proxy.stop());
    const { createWebsocket, statistics } = createFallback();
    const all = { protocolVersion: 5, ...options, createWebsocket } as const;
    const client = await mqtt.connectAsync(proxy.url, all, false);
    onTestFinished(() => client.endAsync());
    return { client, statistics };
  }

  it('any process takes any request, and the session may be at another one', async () => {
    const [topic, clientId] = [unique('t'), unique('c')];
    const kept = { clientId, clean: false, properties: { sessionExpiryInterval: 300 } };
    // The session stays at the process to which its first client is connected.
    const first = await mqtt.connectAsync(members[0]?.url ?? '', { protocolVersion: 5, ...kept });
    await first.subscribeAsync(topic, { qos: 2 });
    await first.endAsync();
    const { client, statistics } = await connect(kept);
    const texts: string[] = [];
    client.on('message', (_topic, payload) => texts.push(payload.toString()));
    const large = 'x'.repeat(300_000);
    for (const text of ['a', large, 'b']) await client.publishAsync(topic, text, { qos: 2 });
    await expect.poll(() => texts, ARRIVAL).toEqual(['a', large, 'b']);
    expect(statistics.opened).toEqual({ websocket: 0, http: 1 });
  });

  it('a key with the name of no process is refused', async () => {
    const url = members[0]?.url.replace('ws', 'http') ?? '';
    const response = await fetch(url, { method: 'POST', body: `poll ${'A'.repeat(22)}@elsewhere 0\n` });
    expect(response.status).toBe(404);
  });
});
