import type { RunningNode } from '@apus/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { EventClient } from '../support/event-client.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEY = 'a-key-of-more-than-22-characters';

describe('event streams of two processes', needs('engine', program), () => {
  let engine: TestEngine;
  let one: RunningNode;
  let two: RunningNode;

  beforeAll(async () => {
    engine = await startEngine(program);
    const options = { apiKey: KEY, streams: [{ name: 's', topicFilter: 's/#' }] };
    [one, two] = [await startMember(engine.url, options), await startMember(engine.url, options)];
  });

  afterAll(async () => {
    await one.stop();
    await two.stop();
    await engine.stop();
  });

  const ask = (node: RunningNode, path: string, method: string) =>
    fetch(new URL(`/api/v5${path}`, node.httpUrl), { method, headers: { authorization: `Bearer ${KEY}` } });

  it('bring what is published at the other process', async () => {
    const topic = unique('t');
    const events = await EventClient.open(one.httpUrl, `topic=${topic}/%23`);
    await events.next();
    const publisher = await ClusterClient.connect(two.url);
    for (let index = 0; index < 50; index += 1)
      await publisher.client.publishAsync(`${topic}/x`, String(index), { qos: 1 });
    for (let index = 0; index < 50; index += 1) expect((await events.message()).payload).toBe(String(index));
  });

  it('go on at the other process without a gap', async () => {
    const query = `topic=s/${unique('t')}/%23`;
    const topic = decodeURIComponent(query).replace('topic=', '').replace('#', 'x');
    const events = await EventClient.open(one.httpUrl, query);
    await events.next();
    const publisher = await ClusterClient.connect(two.url);
    await publisher.client.publishAsync(topic, '1', { qos: 1 });
    const { id = '' } = await events.event();
    events.close();
    for (const payload of ['2', '3']) await publisher.client.publishAsync(topic, payload, { qos: 1 });
    const again = await EventClient.open(two.httpUrl, query, { 'last-event-id': id });
    for (const payload of ['2', '3']) expect((await again.message()).payload).toBe(payload);
    await publisher.client.publishAsync(topic, '4', { qos: 1 });
    expect((await again.message()).payload).toBe('4');
  });

  it('are clients for the API of either process, which ends them', async () => {
    const events = await EventClient.open(one.httpUrl, `topic=${unique('t')}`);
    await events.next();
    const listed = await ask(two, '/clients', 'GET');
    const { data } = (await listed.json()) as { data: readonly { clientid: string; proto_ver: number }[] };
    expect(data.length).toBeGreaterThan(0);
    for (const { clientid } of data) await ask(two, `/clients/${clientid}`, 'DELETE');
    expect((await events.rest()).at(-1)).toMatchObject({ type: 'end', data: { reason_code: 0x98 } });
  });
});
