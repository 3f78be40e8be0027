import type { RunningNode } from '@apus/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };
const STREAMS = { streams: [{ name: 'chat', topicFilter: 'chat/#', key: 'id' }] };
const where = (condition: string) => ({ userProperties: { where: condition } });
const degrees = (t: number) => JSON.stringify({ t });

describe('a subscription with where in a cluster', needs('engine', program), () => {
  let engine: TestEngine;
  let one: RunningNode;
  let two: RunningNode;

  beforeAll(async () => {
    engine = await startEngine(program);
    [one, two] = [await startMember(engine.url, STREAMS), await startMember(engine.url, STREAMS)];
  });

  afterAll(async () => {
    await one.stop();
    await two.stop();
    await engine.stop();
  });

  it('goes with its session to the process that takes it over, before anyone asks for one there', async () => {
    const [topic, clientId] = [unique('t'), unique('c')];
    const dying = await startMember(engine.url);
    const before = await ClusterClient.connect(dying.url, { clientId, ...KEPT });
    await before.client.subscribeAsync(topic, { qos: 1, properties: where('payload.t > 80') });
    await before.client.endAsync();
    await dying.stop();
    const publisher = await ClusterClient.connect(one.url);
    const after = await ClusterClient.connect(two.url, { clientId, ...KEPT });
    for (const t of [1, 81, 2, 82]) await publisher.client.publishAsync(topic, degrees(t), { qos: 1 });
    expect(await after.got(2)).toEqual([81, 82].map(degrees));
  });

  it('is evaluated at the process of the subscriber', async () => {
    const topic = unique('t');
    const subscriber = await ClusterClient.connect(one.url);
    const publisher = await ClusterClient.connect(two.url);
    await subscriber.client.subscribeAsync(topic, { qos: 1, properties: where('payload.t > 80') });
    for (const t of [1, 81, 2, 82]) await publisher.client.publishAsync(topic, degrees(t), { qos: 1 });
    expect(await subscriber.got(2)).toEqual([81, 82].map(degrees));
  });

  it('of a stream sees the same user properties at every process, live and in history', async () => {
    const room = unique('chat/r');
    const subscribers = [await ClusterClient.connect(one.url), await ClusterClient.connect(two.url)];
    const condition =
      'payload.t > 80 && user.id == "a" && !("stream-position" in user) && !("ts" in user) && !("key" in user)';
    const publisher = await ClusterClient.connect(two.url);
    const publish = (t: number) =>
      publisher.client.publishAsync(room, degrees(t), {
        qos: 1,
        properties: { userProperties: { id: 'a' } },
      });
    for (const t of [1, 81]) await publish(t);
    for (const { client } of subscribers) {
      const userProperties = { where: condition, rewind: '10' };
      await client.subscribeAsync(`$stream/chat/${room}`, { qos: 0, properties: { userProperties } });
    }
    for (const t of [2, 82, 83]) await publish(t);
    for (const subscriber of subscribers) expect(await subscriber.got(3)).toEqual([81, 82, 83].map(degrees));
  });
});
