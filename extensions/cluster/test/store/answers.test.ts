import { readStreams, type StreamDeclaration, type StreamEntry, type StreamTail } from '@apus/broker';
import { NOW_MS, numberedMessage } from '@apus/broker/samples';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { engineOrSkip, startEngine } from '../../../../test/support/engine-or-skip.ts';
import { needs } from '../../../../test/support/skips.ts';
import { Engine, Membership, ValkeyStreams } from '../../src/store/index.ts';
import { EngineJournal } from '../../src/store/journal.ts';
import { ValkeyRetained } from '../../src/store/retained.ts';

const program = engineOrSkip();
const TENANT = 'acme';
const MIB = 1024 * 1024;
const NO_LIMITS = { messagesMax: 1e9, bytesMax: 1e9, holder: undefined };

describe('answers of the engine are bounded by their bytes', needs('engine', program), () => {
  let engine: Engine;
  let membership: Membership;
  /** Of the answers since the last look. */
  let sizes: number[];
  const largest = () => Math.max(...sizes.splice(0));

  beforeEach(async () => {
    const process = await startEngine(program);
    onTestFinished(() => process.stop());
    engine = await Engine.connect({ url: process.url });
    onTestFinished(() => engine.close());
    membership = new Membership(engine, 'only');
    await membership.join();
    sizes = [];
    const { client } = engine;
    const send = client.sendCommand.bind(client);
    client.sendCommand = (command, ...others) => {
      void command.promise.then((answer: unknown) => sizes.push(bytesIn(answer)));
      return send(command, ...others);
    };
  });

  it('where a page of large retained messages is read', async () => {
    const retained = new ValkeyRetained(engine);
    const topics = Array.from({ length: 60 }, (_, index) => `r/${String(index).padStart(2, '0')}`);
    for (const [index, topic] of topics.entries())
      await retained.put(TENANT, large(index + 1, topic, 100_000), NO_LIMITS);
    sizes.length = 0;
    const found: string[] = [];
    let from: string | undefined;
    do {
      const page = await retained.match(TENANT, 'r/#', NOW_MS, from, { messages: 32, bytes: 350_000 });
      found.push(...page.messages.map(({ topic }) => topic));
      from = page.next;
      expect(largest()).toBeLessThan(500_000);
    } while (from !== undefined);
    expect(found).toEqual(topics);
  });

  it('where the last values of a topic are read', async () => {
    const [stream] = readStreams(
      [{ name: 's', topicFilter: 's/#', key: 'correlation-data', snapshot: true }],
      'streams',
    ).all as [StreamDeclaration];
    const streams = new ValkeyStreams(engine, membership);
    await streams.connected();
    for (let number = 1; number <= 60; number += 1)
      await streams.append(TENANT, stream, large(number, 's/a', 200_000), {
        ...{ key: `k${number}`, nowMs: NOW_MS, isForced: false },
      });
    sizes.length = 0;
    const tail = (await streams.tail(TENANT, stream, 's/a', NOW_MS)) as StreamTail;
    const all = { messages: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
    const values = await streams.lastValues(TENANT, stream, { ...tail, topic: 's/a' }, 0, all, NOW_MS);
    expect((values as StreamEntry[]).map(({ key }) => key)).toEqual(
      Array.from({ length: 60 }, (_, index) => `k${index + 1}`),
    );
    expect(largest()).toBeLessThan(5 * MIB);
  });

  it('where the journal of a dead process is read', async () => {
    const records = Array.from({ length: 1_500 }, (_, index) => `q${index}`);
    for (const record of records)
      await engine.client.hset(engine.key('journal', 3), record, Buffer.alloc(20_000));
    sizes.length = 0;
    const content = await new EngineJournal(engine, membership).read([3]);
    expect([...content.scan('q' as never)]).toHaveLength(records.length);
    expect(largest()).toBeLessThan(8 * MIB);
  });
});

function large(number: number, topic: string, bytes: number) {
  return numberedMessage(number, { topic, payload: Buffer.alloc(bytes), retain: true });
}

function bytesIn(answer: unknown): number {
  if (Array.isArray(answer)) return answer.reduce((sum: number, each) => sum + bytesIn(each), 0);
  return Buffer.isBuffer(answer) || typeof answer === 'string' ? answer.length : 0;
}
