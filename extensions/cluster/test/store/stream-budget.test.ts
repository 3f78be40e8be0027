import { readStreams, type StreamDeclaration } from '@apus/broker';
import { NOW_MS, numberedMessage } from '@apus/broker/samples';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seeded } from '../../../../test/support/cuttable.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../../../../test/support/engine-or-skip.ts';
import { needs } from '../../../../test/support/skips.ts';
import { Engine, Membership, ValkeyStreams } from '../../src/store/index.ts';
import { STREAM_ALLOCATED_MAX, STREAM_TOPIC_BYTES, STREAM_VALUE_BYTES } from '../../src/store/limits.ts';

const program = engineOrSkip();
const MIB = 1024 * 1024;
const MINUTE_MS = 60_000;
const [PLAIN, SNAPSHOT, LONG] = readStreams(
  [
    { name: 's', topicFilter: 's/#', keepSeconds: 60, messagesMax: 20 },
    { name: 'v', topicFilter: 'v/#', keepSeconds: 60, messagesMax: 20, snapshot: true },
    { name: 'long', topicFilter: 'long/#', messagesMax: 10_000 },
  ],
  'streams',
).all as [StreamDeclaration, StreamDeclaration, StreamDeclaration];

interface Options {
  readonly tenant?: string;
  readonly payload?: Buffer;
  readonly key?: string | undefined;
  readonly nowMs?: number;
  readonly expiresAtMs?: number | undefined;
  readonly isForced?: boolean;
  readonly number?: number;
}

describe('the bytes of the streams of a tenant in the engine', needs('engine', program), () => {
  const started = async (keeps?: readonly string[]): Promise<TestEngine> => {
    const engine = await startEngine(program, keeps);
    onTestFinished(() => engine.stop());
    return engine;
  };

  let numbers = 0;

  const joined = async ({ url }: TestEngine, bytesMax?: number, name = 'one') => {
    const engine = await Engine.connect({ url });
    onTestFinished(() => engine.close());
    const membership = new Membership(engine, name);
    await membership.join();
    const streams = new ValkeyStreams(engine, membership, bytesMax, [PLAIN, SNAPSHOT, LONG]);
    await streams.connected();
    const append = async (topic: string, options: Options = {}) => {
      const { tenant = 'greedy', payload = Buffer.alloc(10_000), key, nowMs = NOW_MS, expiresAtMs } = options;
      numbers += 1;
      const message = numberedMessage(options.number ?? numbers, { topic, payload, expiresAtMs });
      const stream = topic.startsWith('v/') ? SNAPSHOT : topic.startsWith('long/') ? LONG : PLAIN;
      return await streams.append(tenant, stream, message, {
        key,
        nowMs,
        isForced: options.isForced === true,
      });
    };
    /** Appends to topics of their own until the tenant is full. */
    const fill = async (options: Options = {}) => {
      let count = 0;
      while ((await append(`s/fill/${count}`, options)) !== 'full') count += 1;
      return count;
    };
    const counted = async (tenant = 'greedy') =>
      Number(await engine.client.get(engine.key('stream-bytes', tenant.length, tenant)));
    return { engine, streams, append, fill, counted };
  };

  it('have a limit, beyond which it may append nothing, and others may [SEC-GROWTH-8]', async () => {
    const { streams, append, fill, counted } = await joined(await started(), MIB);
    await append('s/first', { number: 7_000_000 });
    expect(await fill()).toBeGreaterThan(20);
    expect(await counted()).toBeLessThan(MIB);
    expect(await append('s/first')).toBe('full');
    expect(await append('v/first')).toBe('full');
    expect(await streams.tail('greedy', PLAIN, 's/read', NOW_MS)).toBe('full');
    expect(await streams.tail('greedy', PLAIN, 's/first', NOW_MS), 'a topic that is there').not.toBe('full');
    expect(await append('s/first', { number: 7_000_000 }), 'a repetition').toMatchObject({
      entry: { number: 1 },
    });
    expect(await append('s/will', { isForced: true }), 'a will').not.toBe('full');
    expect(await append('s/first', { tenant: 'other' })).not.toBe('full');
  });

  it('have half of the memory of an engine with a limit', async () => {
    const engine = await started(['--appendonly', 'no', '--maxmemory', '40mb']);
    const { fill, counted } = await joined(engine);
    expect(await fill({ payload: Buffer.alloc(MIB) })).toBe(16);
    expect(await counted()).toBeGreaterThan((20 * MIB) / STREAM_ALLOCATED_MAX);
  });

  it('give room again when messages are not kept any more', async () => {
    const { append, fill } = await joined(await started(), MIB);
    await append('s/busy', { payload: Buffer.alloc(100_000) });
    const nowMs = NOW_MS + MINUTE_MS;
    await append('s/busy', { nowMs });
    await fill({ nowMs });
    // A minute of the stream, and one for readers that have begun.
    expect(await append('s/busy', { nowMs: NOW_MS + 2 * MINUTE_MS })).toBe('full');
    expect(await append('s/busy', { nowMs: NOW_MS + 2 * MINUTE_MS + 1 })).not.toBe('full');
  });

  it('give room again when topics are not kept any more', async () => {
    const { append, fill } = await joined(await started(), MIB);
    await fill();
    expect(await append('s/new', { nowMs: NOW_MS + 2 * MINUTE_MS })).toBe('full');
    expect(await append('s/new', { nowMs: NOW_MS + 2 * MINUTE_MS + 1 })).not.toBe('full');
  });

  it('give room again to other streams', async () => {
    const { append, fill } = await joined(await started(), MIB);
    await fill();
    const nowMs = NOW_MS + 2 * MINUTE_MS + 1;
    const answers: unknown[] = [];
    // Each refusal looks at another stream.
    for (let count = 0; count < 4; count += 1) answers.push(await append('long/new', { nowMs }));
    expect(answers[0]).toBe('full');
    expect(answers.at(-1)).not.toBe('full');
  });

  it('are counted exactly, whatever happens to them', async () => {
    const engine = await started(['--appendonly', 'yes']);
    const processes = [await joined(engine), await joined(engine, undefined, 'two')];
    const [one] = processes;
    if (one === undefined) throw new Error('there is no process');
    const random = seeded(1);
    const pick = (count: number) => Math.floor(random() * count);
    let nowMs = NOW_MS;
    for (let step = 0; step < 1_500; step += 1) {
      nowMs += pick(10) === 0 ? MINUTE_MS : 100;
      const topic = `${pick(2) === 0 ? 's' : 'v'}/${'long'.repeat(pick(3) * 20)}${pick(4)}`;
      const process = processes[pick(2)] ?? one;
      if (step === 700) {
        await engine.kill('SIGKILL');
        await engine.start();
      }
      const what = pick(10);
      if (what === 0) await process.streams.newEpoch('greedy', topic);
      else if (what === 1) await process.streams.tail('greedy', PLAIN, `s/read/${pick(4)}`, nowMs);
      else
        await process.append(topic, {
          payload: Buffer.alloc(pick(4) * 100),
          key: pick(3) === 0 ? undefined : `key ${pick(5)}`,
          nowMs,
          expiresAtMs: pick(3) === 0 ? nowMs + 30_000 : undefined,
          number: step + 3 - pick(3),
        });
      if (step % 20 === 0) expect(await one.counted(), `step ${step}`).toBe(await countedAgain(one.engine));
    }
  });

  it.each([
    ['small messages', () => ({ topic: 'long/a', payload: Buffer.alloc(1) })],
    [
      'small messages of many topics',
      (index: number) => ({ topic: `s/${index % 20}`, payload: Buffer.alloc(1) }),
    ],
    ['topics of one message', (index: number) => ({ topic: `s/${index}`, payload: Buffer.alloc(1) })],
    [
      'long topics',
      (index: number) => ({ topic: `s/${'x'.repeat(5_000)}${index}`, payload: Buffer.alloc(1) }),
    ],
    ['small values', (index: number) => ({ topic: 'v/a', payload: Buffer.alloc(1), key: `k${index}` })],
    ['long keys', (index: number) => ({ topic: 'v/a', key: `${index}${'x'.repeat(4_000)}` })],
    ['messages of 600 bytes', () => ({ topic: 'long/a', payload: Buffer.alloc(600) })],
    ['messages of 5 KB', () => ({ topic: 'long/a', payload: Buffer.alloc(5_200) })],
    ['messages of 34 KB', (index: number) => ({ topic: `s/${index % 50}`, payload: Buffer.alloc(34_000) })],
  ])('are at least what they take of its memory: %s', async (_kind, at) => {
    const { engine, append, counted } = await joined(await started(['--appendonly', 'no']));
    await append('s/warm', { tenant: 'warm' });
    const before = await usedBytes(engine);
    for (let index = 0; index < 2_000; index += 20)
      await Promise.all(
        Array.from({ length: 20 }, async (_, offset) => {
          const { topic, ...options } = at(index + offset);
          await append(topic, options);
        }),
      );
    const taken = (await usedBytes(engine)) - before;
    expect(taken).toBeLessThan((await counted()) * STREAM_ALLOCATED_MAX);
  });
});

async function usedBytes({ client }: Engine): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
}

/** Counts what the topics of a tenant hold. */
async function countedAgain({ client }: Engine, tenant = 'greedy'): Promise<number> {
  const base = `{apus}:stream:${tenant.length}:${tenant}:`;
  let bytes = 0;
  for (const root of await client.keys(`${base}root:*`)) {
    const topic = root.slice(`${base}root:`.length);
    bytes += STREAM_TOPIC_BYTES + 9 * (base.length + topic.length);
    for (const [, fields] of await client.xrange(`${base}meta:${topic}`, '-', '+'))
      bytes += Number(fields[3]);
    const values = await client.hgetallBuffer(`${base}values:${topic}`);
    for (const [name, value] of Object.entries(values))
      bytes += value.length + 3 * name.length + STREAM_VALUE_BYTES;
  }
  return bytes;
}
