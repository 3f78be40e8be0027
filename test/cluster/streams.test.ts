import { readStreams } from '@apus/broker';
import { numberedMessage } from '@apus/broker/samples';
import { Engine, Membership, ValkeyStreams } from '@apus/cluster/store';
import type { RunningNode } from '@apus/node';
import type { IPublishPacket } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const streams = [{ name: 's', topicFilter: 's/#', messagesMax: 10_000 }];

function positionOf({ properties }: IPublishPacket): { epoch: string; number: number } {
  const said = properties?.userProperties as Record<string, string> | undefined;
  const [epoch = '', number] = (said?.['stream-position'] ?? '').split('-');
  return { epoch, number: Number(number) };
}

function numbersOf({ received }: ClusterClient): number[] {
  return received.map(({ packet }) => positionOf(packet).number);
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('streams of two processes', needs('engine', program), () => {
  let engine: TestEngine;
  let members: readonly RunningNode[];

  beforeAll(async () => {
    engine = await startEngine(program);
    members = [
      await startMember(engine.url, { streams, outboundBufferBytesMax: 100_000 }),
      await startMember(engine.url, { streams, outboundBufferBytesMax: 100_000 }),
    ];
  });

  afterAll(async () => {
    for (const member of members) await member.stop();
    await engine.stop();
  });

  const at = (index: number, options = {}) => ClusterClient.connect(members[index]?.url ?? '', options);
  const readAt = async (index: number, topic: string, asked: Record<string, string>) => {
    const reader = await at(index);
    await reader.client.subscribeAsync(topic, { qos: 0, properties: { userProperties: asked } });
    return reader;
  };

  it('are compared at the start: a process with other streams logs it, and one with the same logs nothing', async () => {
    const warned: unknown[] = [];
    const start = async (given: typeof streams) => {
      const logSink = (entry: unknown) => warned.push(entry);
      const late = await startMember(engine.url, { streams: given, logLevel: 'warn', logSink });
      await late.stop();
    };
    await start(streams);
    expect(warned).toEqual([]);
    await start([{ name: 's', topicFilter: 's/#', messagesMax: 10 }]);
    const said = { event: 'streams-differ', fields: expect.objectContaining({ streams: ['s'] }) };
    expect(warned).toEqual([expect.objectContaining(said), expect.objectContaining(said)]);
    // It has left nothing behind: another process took its place.
    await expect
      .poll(async () => {
        warned.length = 0;
        await start(streams);
        return warned;
      })
      .toEqual([]);
  });

  it('readers anywhere see the messages of publishers everywhere in the order of their numbers', async () => {
    const topic = `s/${unique('t')}`;
    const readers = [await readAt(0, topic, { rewind: '1' }), await readAt(1, topic, { rewind: '1' })];
    const publishers = [await at(0), await at(0), await at(1), await at(1)];
    await Promise.all(
      publishers.map(async ({ client }) => {
        for (let count = 0; count < 100; count += 1) {
          const published = client.publishAsync(topic, String(count), { qos: count % 3 === 0 ? 0 : 1 });
          if (count % 5 === 0) await published;
        }
      }),
    );
    for (const reader of readers) {
      await reader.got(400);
      expect(numbersOf(reader)).toEqual(upTo(400));
    }
  });

  it('readers that join while clients publish miss no message and see none twice', async () => {
    const topic = `s/${unique('t')}`;
    const publishers = [await at(0), await at(1)];
    let isOver = false;
    let sent = 0;
    const publishing = publishers.map(async ({ client }) => {
      while (!isOver && sent < 5_000) {
        sent += 1;
        await client.publishAsync(topic, 'x', { qos: 1 });
      }
    });
    const readers: ClusterClient[] = [];
    for (let count = 0; count < 20; count += 1)
      readers.push(await readAt(count % 2, topic, { 'stream-offset': count % 3 ? 'latest' : 'earliest' }));
    isOver = true;
    await Promise.all(publishing);
    // Messages that the publishers sent while the last reader joined may have been appended before its end was found.
    sent += 1;
    await publishers[0]?.client.publishAsync(topic, 'x', { qos: 1 });
    for (const reader of readers) {
      await expect.poll(() => numbersOf(reader).at(-1)).toBe(sent);
      const [first = 0] = numbersOf(reader);
      expect(numbersOf(reader)).toEqual(upTo(sent).slice(first - 1));
    }
  });

  it('a message whose process died before it handed the message over arrives with the next one', async () => {
    const topic = `s/${unique('t')}`;
    const reader = await readAt(0, topic, { 'stream-offset': 'latest' });
    const dying = await Engine.connect({ url: engine.url });
    onTestFinished(() => dying.close());
    const membership = new Membership(dying, unique('dying'));
    await membership.join();
    const [stream] = readStreams(streams, 'streams').all;
    if (stream === undefined) throw new Error('there is no stream');
    const message = numberedMessage(1, { topic, payload: Buffer.from('lost') });
    const options = { key: undefined, nowMs: Date.now(), isForced: false };
    await new ValkeyStreams(dying, membership).append('default', stream, message, options);
    await membership.end(membership.me);
    const publisher = await at(1);
    await publisher.client.publishAsync(topic, 'next', { qos: 1 });
    expect(await reader.got(2)).toEqual(['lost', 'next']);
    expect(numbersOf(reader)).toEqual([1, 2]);
  });

  it('a message beyond the bytes of its tenant is refused with 0x97 [SEC-GROWTH-8]', async () => {
    const small = await startMember(engine.url, { streams }, { streamBytesMax: 1 });
    onTestFinished(() => small.stop());
    const publisher = await ClusterClient.connect(small.url);
    await publisher.client.publishAsync('no/stream', 'x', { qos: 1 });
    const topic = `s/${unique('t')}`;
    await expect(
      (async () => {
        for (let count = 0; count < 2; count += 1)
          await publisher.client.publishAsync(topic, 'x', { qos: 1 });
      })(),
    ).rejects.toMatchObject({ code: 0x97 });
  });

  it('a slow reader is sent the rest from history when it reads again', async () => {
    const topic = `s/${unique('t')}`;
    const reader = await readAt(0, topic, { 'stream-offset': 'latest' });
    reader.client.stream.pause();
    const publisher = await at(1);
    const payload = 'x'.repeat(50_000);
    for (let count = 0; count < 300; count += 1)
      await publisher.client.publishAsync(topic, payload, { qos: 1 });
    reader.client.stream.resume();
    await reader.got(300);
    expect(numbersOf(reader)).toEqual(upTo(300));
  });

  it('plain subscribers are given positions, and a client continues from one at the other process', async () => {
    const topic = `s/${unique('t')}`;
    const plain = await at(1);
    await plain.client.subscribeAsync(topic, { qos: 1 });
    const publisher = await at(0);
    for (const text of ['a', 'b', 'c']) await publisher.client.publishAsync(topic, text, { qos: 1 });
    await plain.got(3);
    const [first] = plain.received;
    if (first === undefined) throw new Error('nothing has come');
    const { epoch, number } = positionOf(first.packet);
    const reader = await readAt(0, topic, { 'stream-position': `${epoch}-${number}` });
    expect(await reader.got(2)).toEqual(['b', 'c']);
  });

  it('members of a share group at both processes get messages in turn', async () => {
    const topic = `s/${unique('t')}`;
    const both = [await at(0), await at(1)];
    for (const { client } of both) await client.subscribeAsync(`$share/g/${topic}`, { qos: 1 });
    const publisher = await at(0);
    for (let count = 0; count < 20; count += 1) await publisher.client.publishAsync(topic, 'x', { qos: 1 });
    const counts = () => both.map(({ received }) => received.length);
    await expect.poll(() => counts().reduce((sum, count) => sum + count)).toBe(20);
    expect(counts()).toEqual([10, 10]);
  });

  it('the API of either reports the contents of the streams', async () => {
    const topic = `s/${unique('t')}`;
    const publisher = await at(0);
    for (const text of ['a', 'b']) await publisher.client.publishAsync(topic, text, { qos: 1 });
    const asked = members.map(async ({ httpUrl }) => {
      const list = await fetch(`${httpUrl}api/v5/streams`);
      const page = await fetch(`${httpUrl}api/v5/streams/s/messages?topic=${topic}&limit=1&reverse=true`);
      return { list: await list.json(), page: await page.json() };
    });
    const [one, two] = await Promise.all(asked);
    expect(one).toEqual(two);
    expect(one?.list).toMatchObject({ data: [{ name: 's', topic_filter: 's/#' }] });
    expect(one?.page).toMatchObject({ data: [{ topic, payload: Buffer.from('b').toString('base64') }] });
  });

  it('continues with an engine that is restarted, in the same epoch', async () => {
    const topic = `s/${unique('t')}`;
    const reader = await readAt(0, topic, { 'stream-offset': 'latest' });
    const publisher = await at(1);
    const published: Promise<unknown>[] = [];
    for (let count = 0; count < 200; count += 1) {
      published.push(publisher.client.publishAsync(topic, String(count), { qos: 1 }));
      if (count % 10 === 0) await published.at(-1);
      if (count !== 100) continue;
      await engine.kill('SIGKILL');
      await engine.start();
    }
    await Promise.all(published);
    await reader.got(200);
    expect(numbersOf(reader)).toEqual(upTo(200));
    expect(new Set(reader.received.map(({ packet }) => positionOf(packet).epoch)).size).toBe(1);
  });
});
