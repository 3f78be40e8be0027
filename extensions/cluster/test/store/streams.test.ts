import { readStreams, type StreamAppended, type StreamDeclaration, type StreamTail } from '@apus/broker';
import { NOW_MS, numberedMessage } from '@apus/broker/samples';
import { describe, expect, it, onTestFinished } from 'vitest';
import { engineOrSkip, startEngine, type TestEngine } from '../../../../test/support/engine-or-skip.ts';
import { needs } from '../../../../test/support/skips.ts';
import { Engine, Membership, ValkeyStreams } from '../../src/store/index.ts';

const program = engineOrSkip();
const TENANT = 'acme';
const TOPIC = 's/a';
const ALL = { messages: 1000, bytes: Number.POSITIVE_INFINITY };
const [STREAM] = readStreams([{ name: 's', topicFilter: 's/#', topicsMax: 5000 }], 'streams').all as [
  StreamDeclaration,
];

describe('streams in the engine', needs('engine', program), () => {
  const started = async (keeps?: readonly string[]): Promise<TestEngine> => {
    const engine = await startEngine(program, keeps);
    onTestFinished(() => engine.stop());
    return engine;
  };

  /** A process of the cluster, reduced to its streams. */
  const joined = async ({ url }: TestEngine, name = 'one') => {
    const engine = await Engine.connect({ url });
    onTestFinished(() => engine.close());
    const membership = new Membership(engine, name);
    await membership.join();
    const streams = new ValkeyStreams(engine, membership);
    await streams.connected();
    const append = async (number: number, topic = TOPIC) => {
      const options = { key: undefined, nowMs: NOW_MS + number, isForced: false };
      return await streams.append(TENANT, STREAM, numberedMessage(number, { topic }), options);
    };
    const entryOf = async (number: number) => ((await append(number)) as StreamAppended).entry;
    const tail = async () => (await streams.tail(TENANT, STREAM, TOPIC, NOW_MS + 100)) as StreamTail;
    const numbers = async () => {
      const page = await streams.read(TENANT, TOPIC, (await tail()).epoch, 0, ALL);
      return page === 'lost' ? page : page.map(({ message }) => Buffer.from(message.payload).toString());
    };
    return { engine, membership, streams, append, entryOf, tail, numbers };
  };

  it('keep their epoch over a restart of an engine that writes before it answers', async () => {
    const engine = await started();
    const { entryOf, tail, numbers } = await joined(engine);
    const before = await entryOf(1);
    await engine.kill('SIGKILL');
    await engine.start();
    expect(await tail()).toMatchObject({ epoch: before.epoch, last: 1, start: 0 });
    expect(await entryOf(2)).toMatchObject({ epoch: before.epoch, number: 2 });
    expect(await numbers()).toEqual(['1', '2']);
  });

  it('take the messages of a turn in few commands, in their order, and a refused one spoils no other', async () => {
    const engine = await started();
    const { engine: client, streams, numbers } = await joined(engine);
    const oneTopic = { ...STREAM, topicsMax: 1 };
    const append = (number: number, topic = TOPIC) => {
      const options = { key: undefined, nowMs: NOW_MS, isForced: false };
      return streams.append(TENANT, oneTopic, numberedMessage(number, { topic }), options);
    };
    await append(1);
    const calls = async () => {
      const stats = await client.client.info('commandstats');
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    const before = await calls();
    const answers = await Promise.all([
      ...Array.from({ length: 100 }, (_, index) => append(index + 2)),
      append(500, 's/other'),
      append(102),
    ]);
    expect(answers.flatMap((each, index) => (each === 'full' ? index : []))).toEqual([100]);
    expect((await calls()) - before).toBeLessThan(5);
    expect(await numbers()).toEqual(Array.from({ length: 102 }, (_, index) => String(index + 1)));
  });

  it('refuse a message behind one that is not in the log, and take it when that one is there', async () => {
    const { streams, numbers } = await joined(await started());
    const append = async (number: number, behind?: number, topicsMax = 100, topic = TOPIC) => {
      const origin = { source: 'kafka/0', number, behind };
      const options = { key: undefined, nowMs: NOW_MS, isForced: false, origin };
      const stream = { ...STREAM, topicsMax };
      const appended = await streams.append(TENANT, stream, numberedMessage(number, { topic }), options);
      return typeof appended === 'string' ? appended : appended.entry.number;
    };
    expect(await Promise.all([append(1, undefined, 0), append(2, 1, 0), append(3, 2)])).toEqual([
      'full',
      'contended',
      'contended',
    ]);
    expect(await Promise.all([append(1), append(2, 1), append(3, 2)])).toEqual([1, 2, 3]);
    expect(await append(5, 4)).toBe('contended');
    expect(await append(5)).toBe(4);
    expect(await numbers()).toEqual(['1', '2', '3', '5']);
  });

  it.each([
    ['is not asked to', ['--appendonly', 'yes', '--appendfsync', 'everysec']],
    ['does not say so', ['--appendonly', 'yes', '--appendfsync', 'always', '--rename-command', 'CONFIG', '']],
  ] as const)(
    'begin another epoch where an engine that was restarted may have lost something: it %s',
    async (_why, keeps) => {
      const engine = await started(keeps);
      const { streams, entryOf, tail, numbers } = await joined(engine);
      const before = [await entryOf(1), await entryOf(2)].at(-1);
      await engine.kill('SIGTERM');
      await engine.start();
      const after = await entryOf(3);
      expect(after.epoch).not.toBe(before?.epoch);
      expect(after.number).toBe(3);
      expect(await tail()).toMatchObject({ epoch: after.epoch, last: 3, start: 2 });
      expect(await streams.read(TENANT, TOPIC, before?.epoch ?? '', 0, ALL)).toBe('lost');
      expect(await numbers()).toEqual(['1', '2', '3']);
      // The messages that are lost may have been the next ones.
      const end = { topic: TOPIC, ...(await tail()) };
      const since = await streams.since(TENANT, STREAM, end, NOW_MS + 2, NOW_MS + 100);
      expect(since).toEqual({ number: 2, isComplete: false });
      // Only once: from then on the engine keeps its identity.
      expect((await entryOf(4)).epoch).toBe(after.epoch);
    },
  );

  it('begin anew in another epoch if the engine has lost everything', async () => {
    const engine = await started(['--appendonly', 'no']);
    const before = await (await joined(engine)).entryOf(1);
    await engine.kill('SIGKILL');
    await engine.start();
    const after = await (await joined(engine)).entryOf(2);
    expect(after.number).toBe(1);
    expect(after.epoch).not.toBe(before.epoch);
  });

  it('accept nothing from a process that the others have given up', async () => {
    const engine = await started();
    const [one, two] = [await joined(engine), await joined(engine, 'two')];
    await one.entryOf(1);
    await two.membership.end('one');
    await two.membership.reap('one');
    await expect(one.append(2)).rejects.toThrow('have given this one up');
    await expect(one.tail()).rejects.toThrow('have given this one up');
    expect(await one.streams.newEpoch(TENANT, TOPIC)).toBeUndefined();
    expect(await two.numbers()).toEqual(['1']);
    expect((await two.entryOf(3)).number).toBe(2);
  });

  it('number a message once if its command is repeated because the answer was lost', async () => {
    const { entryOf, numbers } = await joined(await started());
    const [first, , again] = [await entryOf(1), await entryOf(2), await entryOf(1)];
    expect(again).toEqual(first);
    expect((await entryOf(3)).number).toBe(3);
    expect(await numbers()).toEqual(['1', '2', '3']);
  });

  it('number messages of several processes without a gap', async () => {
    const engine = await started();
    const all = [await joined(engine), await joined(engine, 'two'), await joined(engine, 'three')];
    const calls = Array.from({ length: 90 }, (_, index) => all[index % 3]?.entryOf(index + 1));
    const entries = await Promise.all(calls);
    expect(new Set(entries.map((entry) => entry?.epoch)).size).toBe(1);
    expect(entries.map((entry) => entry?.number).sort((a = 0, b = 0) => a - b)).toEqual(
      Array.from({ length: 90 }, (_, index) => index + 1),
    );
  });

  it('refuse a message if the engine has no memory for it', async () => {
    const { engine, append } = await joined(await started());
    await append(1);
    await engine.client.config('SET', 'maxmemory', '1');
    expect(await append(2)).toBe('full');
    await engine.client.config('SET', 'maxmemory', '0');
    expect(await append(3)).toMatchObject({ entry: { number: 2 } });
  });

  it('list more topics than one step looks at, by filters that begin anywhere', async () => {
    const { streams, append } = await joined(await started());
    const topics = Array.from({ length: 1200 }, (_, index) => `s/${index % 3}/${index}`);
    await Promise.all(topics.map((topic, index) => append(index + 1, topic)));
    const found = async (filter: string, countMax = 5000) => {
      const tails = await streams.topics(TENANT, STREAM, filter, countMax, NOW_MS);
      return typeof tails === 'string' ? tails : tails.length;
    };
    expect(await found('s/#')).toBe(1200);
    expect(await found('s/1/+')).toBe(400);
    expect(await found('s/+/600')).toBe(1);
    expect(await found('s/0')).toBe(0);
    expect(await found('s/#', 1199)).toBe('too-many');
    expect(await streams.figures(TENANT, STREAM)).toMatchObject({ topics: 1200, messages: 1200 });
  });
});
