import { parseListenAddress, type RunningNode } from '@apus/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };

describe('a client over TCP', needs('engine', program), () => {
  let engine: TestEngine;
  let members: RunningNode[];

  beforeEach(async () => {
    engine = await startEngine(program);
    const options = { listen: [parseListenAddress('tcp://127.0.0.1:0')] };
    members = [await startMember(engine.url, options), await startMember(engine.url, options)];
  });

  afterEach(async () => {
    for (const member of members) await member.stop();
    await engine.stop();
  });

  const urls = (index: number) => {
    const [webSocket = '', tcp = ''] = members[index]?.urls ?? [];
    return { webSocket, tcp: tcp.replace('tcp:', 'mqtt:') };
  };

  it.each([
    ['at another process, over TCP', () => urls(1).tcp],
    ['at another process, over WebSocket', () => urls(1).webSocket],
  ])('finds its session again %s, and is served from its home', async (_where, again) => {
    const [topic, clientId] = [unique('t'), unique('c')];
    const first = await ClusterClient.connect(urls(0).tcp, { clientId, ...KEPT });
    await first.client.subscribeAsync(topic, { qos: 2 });
    await first.client.endAsync();
    const publisher = await ClusterClient.connect(urls(1).tcp);
    const large = 'x'.repeat(300_000);
    for (const text of ['a', large]) await publisher.client.publishAsync(topic, text, { qos: 2 });
    const second = await ClusterClient.connect(again(), { clientId, ...KEPT });
    await second.got(2);
    await publisher.client.publishAsync(topic, 'b', { qos: 1 });
    await second.got(3);
    expect(second.texts).toEqual(['a', large, 'b']);
  });
});
