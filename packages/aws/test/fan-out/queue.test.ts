import type { Message, WideFilter } from '@apus/broker';
import type { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { GatheredJobs } from '../../src/fan-out/gathered-jobs.ts';
import { decodeJob } from '../../src/fan-out/job.ts';
import { type QueueEntry, QueueUnavailable, SqsQueue } from '../../src/fan-out/job-queue.ts';
import { QueueBacklog } from '../../src/fan-out/queue-backlog.ts';
import { SqsVisibility } from '../../src/fan-out/visibility.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function messageOf(id: string, fields: Partial<Message> = {}): Message {
  return {
    id,
    topic: 't',
    payload: Buffer.from('x'),
    qos: 1,
    retain: false,
    properties: {},
    expiresAtMs: undefined,
    publisherKey: undefined,
    ...fields,
  };
}

const wide = (shards: number, fields: Partial<WideFilter> = {}): WideFilter => ({
  tenant: 'default',
  topicFilter: 't',
  shards,
  ...fields,
});

function fanOutInto(sent: QueueEntry[], isFull = false): GatheredJobs {
  const queue = { send: async (entries: readonly QueueEntry[]) => void sent.push(...entries) };
  return new GatheredJobs({ queue, backlog: { isFull: async () => isFull } });
}

const idsOf = ({ body }: QueueEntry): string[] => {
  const job = decodeJob(body);
  return typeof job === 'object' ? job.messages.map(({ id }) => id) : [];
};

describe('messages that a frame publishes to wide filters', () => {
  it('leave as one job for each shard, in order', async () => {
    const sent: QueueEntry[] = [];
    const fanOut = fanOutInto(sent);
    for (const id of ['1', '2', '3']) expect(await fanOut.accept(messageOf(id), [wide(2)])).toBe(true);
    expect(sent).toEqual([]);
    await fanOut.flush();
    expect(sent.map(idsOf)).toEqual([
      ['1', '2', '3'],
      ['1', '2', '3'],
    ]);
    expect(new Set(sent.map(({ fifo }) => fifo?.groupId)).size).toBe(2);
    await fanOut.flush();
    expect(sent).toHaveLength(2);
  });

  it('are another job where a repetition has another place in its stream, and the same one otherwise', async () => {
    const sent: QueueEntry[] = [];
    const placed = (position: string) =>
      messageOf('1', { qos: 2, properties: { userProperties: [['stream-position', position]] } });
    for (const message of [placed('e-3'), placed('e-3'), placed('e-16')]) {
      const fanOut = fanOutInto(sent);
      await fanOut.accept(message, [wide(1)]);
      await fanOut.flush();
    }
    const [first, same, other] = sent.map(({ fifo }) => fifo?.deduplicationId);
    expect(same).toBe(first);
    expect(other).not.toBe(first);
  });

  it('are dropped when the frame fails', async () => {
    const sent: QueueEntry[] = [];
    const fanOut = fanOutInto(sent);
    await fanOut.accept(messageOf('1'), [wide(2)]);
    fanOut.drop();
    await fanOut.flush();
    expect(sent).toEqual([]);
  });

  it.each([
    ['a filter is behind', [wide(1), wide(1, { topicFilter: '+', isBehind: true })], false],
    ['the queue is full', [wide(1)], true],
  ])('are refused as a whole when %s', async (_when, filters, isFull) => {
    const sent: QueueEntry[] = [];
    const fanOut = fanOutInto(sent, isFull);
    expect(await fanOut.accept(messageOf('1'), filters)).toBe(false);
    await fanOut.flush();
    expect(sent).toEqual([]);
  });

  it('are deduplicated by message id and never by content', async () => {
    const sent: QueueEntry[] = [];
    const fanOut = fanOutInto(sent);
    for (const id of ['1', '2', '1']) {
      await fanOut.accept(messageOf(id), [wide(1)]);
      await fanOut.flush();
    }
    const [first, second, again] = sent.map(({ fifo }) => fifo?.deduplicationId);
    expect(first).not.toBe(second);
    expect(again).toBe(first);
  });

  it('have a job each at QoS 2, so that a repetition in another frame is deduplicated', async () => {
    const sent: QueueEntry[] = [];
    const fanOut = fanOutInto(sent);
    const frame = async (...messages: Message[]) => {
      for (const message of messages) await fanOut.accept(message, [wide(1)]);
      await fanOut.flush();
    };
    await frame(messageOf('1'), messageOf('2', { qos: 2 }), messageOf('3'));
    await frame(messageOf('2', { qos: 2 }), messageOf('4'));
    expect(sent.map(idsOf)).toEqual([['1'], ['2'], ['3'], ['2'], ['4']]);
    expect(sent[3]?.fifo).toEqual(sent[1]?.fifo);
  });

  it('are several jobs when they are long, in order and each well within a batch', async () => {
    const sent: QueueEntry[] = [];
    const fanOut = fanOutInto(sent);
    const payload = Buffer.alloc(24_000, 'x');
    const ids = Array.from({ length: 30 }, (_, index) => String(index));
    for (const id of ids) await fanOut.accept(messageOf(id, { payload }), [wide(1)]);
    await fanOut.flush();
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.flatMap(idsOf)).toEqual(ids);
    for (const { body } of sent) expect(body.length).toBeLessThan(300_000);
  });

  it('have only characters that SQS takes, for any filter', async () => {
    const sent: QueueEntry[] = [];
    const fanOut = fanOutInto(sent);
    const topicFilter = 'a/\ufffe/\uffff/ä/😀';
    await fanOut.accept(messageOf('1'), [wide(1, { topicFilter })]);
    await fanOut.flush();
    const [{ body } = { body: '' }] = sent;
    expect(body).not.toMatch(/[\ufffe\uffff]/);
    expect(decodeJob(body)).toMatchObject({ topicFilter });
  });
});

type Entries = NonNullable<SendMessageBatchCommand['input']['Entries']>;

/** A queue that answers each batch as the test says, with the ids of the entries that it refuses. */
function sqsQueue(answer: (entries: Entries, batch: number) => readonly string[] | Error) {
  const accepted: string[] = [];
  const batches: string[][] = [];
  const pauses: number[] = [];
  const send = async ({ input }: SendMessageBatchCommand) => {
    const entries = input.Entries ?? [];
    batches.push(entries.map(({ MessageBody }) => MessageBody ?? ''));
    const refused = answer(entries, batches.length);
    await new Promise(setImmediate);
    if (refused instanceof Error) throw refused;
    for (const { Id, MessageBody = '' } of entries)
      if (!refused.includes(Id ?? '')) accepted.push(MessageBody);
    return { Failed: refused.map((Id) => ({ Id, Code: 'x', SenderFault: false })) };
  };
  const queue = new SqsQueue({
    client: { send } as never,
    queueUrl: 'https://queue',
    sleep: async (ms) => void pauses.push(ms),
    random: () => 1,
  });
  return { queue, accepted, batches, pauses };
}

const entry = (groupId: string, body: string): QueueEntry => ({
  body,
  fifo: { groupId, deduplicationId: body },
});

describe('a queue in SQS', () => {
  it('keeps the order of a group though batches are taken in part', async () => {
    let dice = 7;
    const { queue, accepted } = sqsQueue((entries) => {
      dice = (dice * 75 + 74) % 65_537;
      return dice % 3 === 0 ? [] : entries.slice(0, dice % 2).map(({ Id }) => Id ?? '');
    });
    const entries = ['A', 'B', 'C'].flatMap((group) => [1, 2, 3, 4].map((n) => entry(group, `${group}${n}`)));
    await queue.send(entries);
    for (const group of ['A', 'B', 'C']) {
      expect(accepted.filter((body) => body.startsWith(group))).toEqual(
        [1, 2, 3, 4].map((n) => `${group}${n}`),
      );
    }
  });

  it('never has two of a group in a batch, and sends the rest again alone', async () => {
    const { queue, batches, pauses } = sqsQueue((_entries, batch) => (batch === 1 ? ['0'] : []));
    await queue.send([entry('A', 'A1'), entry('A', 'A2'), entry('B', 'B1')]);
    expect(batches).toEqual([['A1', 'B1'], ['A1'], ['A2']]);
    expect(pauses).toHaveLength(1);
  });

  it('sends at most ten in a batch and a megabyte, counted in bytes', async () => {
    const { queue, batches } = sqsQueue(() => []);
    await queue.send(Array.from({ length: 23 }, (_, index) => entry(`g${index}`, `${index}`)));
    expect(batches.map(({ length }) => length)).toEqual([10, 10, 3]);
    const large = sqsQueue(() => []);
    await large.queue.send(['a', 'b', 'c'].map((name) => entry(name, 'ä'.repeat(250_000))));
    expect(large.batches.map(({ length }) => length)).toEqual([2, 1]);
  });

  it('gives up after several attempts with 0x97, and nothing of later rounds has left', async () => {
    const { queue, batches, accepted } = sqsQueue(() => new Error('ServiceUnavailable'));
    await expect(queue.send([entry('A', 'A1'), entry('A', 'A2')])).rejects.toThrow(QueueUnavailable);
    await expect(queue.send([entry('A', 'A1')])).rejects.toMatchObject({ reasonCode: 0x97 });
    expect(batches.flat()).not.toContain('A2');
    expect(accepted).toEqual([]);
  });
});

describe('the backlog', () => {
  function backlogOf(answers: readonly (number | Error)[]) {
    const clock = { nowMs: 0 };
    let calls = 0;
    const send = async () => {
      const answer = answers[Math.min(calls, answers.length - 1)];
      calls += 1;
      if (answer instanceof Error) throw answer;
      return { Attributes: { ApproximateNumberOfMessages: String(answer) } };
    };
    const client = { send } as never;
    const backlog = new QueueBacklog({
      client,
      queueUrl: 'q',
      clock: { now: () => clock.nowMs },
      log: silent,
    });
    return { backlog, clock, calls: () => calls };
  }

  it('is full above 100,000 messages and not at them', async () => {
    expect(await backlogOf([100_000]).backlog.isFull()).toBe(false);
    expect(await backlogOf([100_001]).backlog.isFull()).toBe(true);
  });

  it('is read once in ten seconds, and once for all concurrent callers', async () => {
    const { backlog, clock, calls } = backlogOf([100_001, 5]);
    expect(await Promise.all([backlog.isFull(), backlog.isFull()])).toEqual([true, true]);
    clock.nowMs = 9_999;
    expect(await backlog.isFull()).toBe(true);
    expect(calls()).toBe(1);
    clock.nowMs = 10_000;
    expect(await backlog.isFull()).toBe(false);
    expect(calls()).toBe(2);
  });

  it('keeps its last value where the queue does not answer', async () => {
    const { backlog, clock } = backlogOf([100_001, new Error('away')]);
    expect(await backlog.isFull()).toBe(true);
    clock.nowMs = 10_000;
    expect(await backlog.isFull()).toBe(true);
  });
});

describe('records that a worker returns', () => {
  it('become visible after the given time, ten in a call', async () => {
    const calls: unknown[] = [];
    const send = async ({ input }: { input: { Entries: unknown[] } }) => {
      calls.push(input.Entries.length, input.Entries[0]);
      return {};
    };
    const visibility = new SqsVisibility({ client: { send } as never, queueUrl: 'q', log: silent });
    const records = Array.from({ length: 12 }, (_, index) => ({
      messageId: '',
      receiptHandle: `r${index}`,
      body: '',
      attributes: {},
    }));
    await visibility.giveBack(records, 3);
    expect(calls).toEqual([
      10,
      { Id: '0', ReceiptHandle: 'r0', VisibilityTimeout: 3 },
      2,
      { Id: '0', ReceiptHandle: 'r10', VisibilityTimeout: 3 },
    ]);
  });
});
