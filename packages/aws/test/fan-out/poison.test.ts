import type { Broker } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { gate } from '../../../../test/support/gate.ts';
import type { SqsRecord } from '../../src/events/sqs.ts';
import type { MakeBroker } from '../../src/index.ts';
import type { Process } from '../support/fan-out.ts';
import { never, World } from '../support/fan-out.ts';

const LIMITS = { sliceSubscribersMax: 3, attemptsMax: 4, attemptsTogetherMax: 2 };

/** The payloads of the jobs among the dead letters. */
function deadTexts({ deadLetters }: World): string[] {
  return deadLetters.entries.flatMap(({ body }) =>
    (JSON.parse(body).messages as string[]).map((encoded) =>
      Buffer.from(encoded, 'base64').toString().slice(-1),
    ),
  );
}

interface Victim {
  readonly worker: Process;
  /** Resolves when it will never answer. */
  readonly died: Promise<undefined>;
}

/** A worker to which a message is fatal: it throws, as a defect would, or does not come back. */
function workerFailingAt(world: World, text: string, how: 'throws' | 'dies'): Victim {
  const worker = world.process({ limits: LIMITS });
  const death = gate();
  const { environment } = worker.cloud;
  const { makeBroker } = environment;
  const makeVictim: MakeBroker = (outbox, kind) => {
    const made = makeBroker(outbox, kind);
    const serve: Broker['serve'] = async (message, subscribers, isRepeat) => {
      if (Buffer.from(message.payload).toString() === text) {
        if (how === 'throws') throw new Error('a defect');
        death.open();
        await never();
      }
      await made.broker.serve(message, subscribers, isRepeat);
    };
    return { ...made, broker: { ...made.broker, serve } };
  };
  Object.assign(environment, { makeBroker: makeVictim });
  return { worker, died: death.opened.then(() => undefined) };
}

/** Redelivers until nothing is left, as the queue would. */
async function workUntilDone(
  records: readonly SqsRecord[],
  makeVictim: () => Victim,
  roundsMax = 60,
): Promise<void> {
  let waiting = records;
  for (let round = 1; round <= roundsMax; round += 1) {
    const { worker, died } = makeVictim();
    const failures = await Promise.race([worker.failuresOf(waiting), died]);
    if (failures === undefined) continue;
    waiting = waiting.filter(({ messageId }) => failures.includes(messageId));
    if (waiting.length === 0) return;
  }
  throw new Error(`not done within ${roundsMax} rounds`);
}

describe('a record that is not a job', () => {
  it.each([
    ['text', 'not JSON'],
    ['JSON of something else', '{"hello":1}'],
    ['a job without a message', '{"v":1,"tenant":"t","topicFilter":"wide","shard":0,"messages":[]}'],
    ['a message that is cut', '{"v":1,"tenant":"t","topicFilter":"wide","shard":0,"messages":["AAAA"]}'],
    ['a shard that is none', '{"v":1,"tenant":"t","topicFilter":"wide","shard":-1,"messages":["AAAA"]}'],
  ])('goes to the dead-letter queue at once, and its group goes on: %s', async (_what, body) => {
    const world = await World.create();
    const all = await world.subscribers(3);
    await world.publish(['a']);
    const groupId = world.queue.entries[0]?.fifo?.groupId ?? '';
    await world.queue.send([{ body, fifo: { groupId, deduplicationId: 'x' } }]);
    await world.publish(['b']);
    const worker = world.process();
    expect(await worker.failuresOf(world.queue.receive())).toEqual([]);
    for (const id of all) expect(world.gateway.textsTo(id)).toEqual(['a', 'b']);
    expect(world.deadLetters.entries).toEqual([{ body, fifo: { groupId, deduplicationId: 'message-1' } }]);
    expect(worker.counts).toMatchObject([{ deadLetters: 1 }]);
    expect(worker.log).toMatchObject([{ level: 'error', event: 'fan-out-dead-letter' }]);
  });

  it('comes again when the dead-letter queue is unavailable', async () => {
    const world = await World.create();
    await world.queue.send([{ body: 'not JSON', fifo: { groupId: 'g', deduplicationId: 'x' } }]);
    world.deadLetters.send = async () => {
      throw new Error('no queue');
    };
    expect(await world.process().failuresOf(world.queue.receive())).toEqual(['message-0']);
  });
});

describe('a job of a newer version', () => {
  it('stays in the queue with those behind it in its group, and the worker that knows it serves all in order', async () => {
    const world = await World.create();
    const all = await world.subscribers(3);
    await world.publish(['a', 'b', 'c']);
    await world.subscribers(3, { qos: 1 }, {}, 'other');
    await world.publish(['x'], { qos: 1 }, 'other');
    const known = world.queue.receive();
    const [a, b, c, x] = known;
    const newer = { ...b, body: b?.body.replace('"v":1', '"v":2') } as SqsRecord;
    const worker = world.process();
    expect(await worker.failuresOf([a, newer, c, x] as SqsRecord[])).toEqual(['message-1', 'message-2']);
    const [, ...inShard] = all;
    for (const id of inShard) expect(world.gateway.textsTo(id)).toEqual(['a']);
    expect(world.deadLetters.entries).toEqual([]);
    expect(worker.log).toMatchObject([{ level: 'warn', event: 'fan-out-newer', fields: { count: 2 } }]);
    // Their visibility timeout is as long as a failed one's: nothing gives them back.
    expect(worker.givenBack).toEqual([]);
    expect(await world.process().failuresOf([b, c] as SqsRecord[])).toEqual([]);
    for (const id of inShard) expect(world.gateway.textsTo(id)).toEqual(['a', 'b', 'c']);
  });
});

describe('a poisoned job', () => {
  it.each([
    ['that makes its worker throw', 'throws'],
    ['that kills its worker', 'dies'],
  ] as const)(
    '%s goes to the dead-letter queue after its attempts, alone: the jobs beside and behind it arrive, in order',
    async (_what, how) => {
      const world = await World.create();
      const all = await world.subscribers(8);
      await world.publish(['a', 'b', 'X', 'c']);
      const records = world.queue.receive();
      await workUntilDone(records, () => workerFailingAt(world, 'X', how));
      expect(deadTexts(world)).toEqual(['X']);
      const [head = '', ...inShard] = all;
      expect(world.gateway.textsTo(head)).toEqual(['a', 'b', 'X', 'c']);
      for (const id of inShard) expect([...new Set(world.gateway.textsTo(id))]).toEqual(['a', 'b', 'c']);
      await world.publish(['d']);
      expect(await world.process().failuresOf(world.queue.receive())).toEqual([]);
      for (const id of inShard) expect(world.gateway.textsTo(id).at(-1)).toBe('d');
    },
  );

  it('is not one that completes a slice: each slice has its own attempts', async () => {
    const world = await World.create();
    const all = await world.subscribers(10);
    await world.publish(['a']);
    const records = world.queue.receive();
    let rounds = 0;
    let failures: readonly string[] = records.map(({ messageId }) => messageId);
    // Each worker is killed, and yet each has come a slice further than the one before.
    while (failures.length > 0) {
      rounds += 1;
      let claims = 0;
      const worker = world.process({
        limits: { ...LIMITS, sliceSubscribersMax: 1 },
        hooks: {
          before: (call) => {
            if (call === 'claim' && ++claims === 4) throw new Error('killed');
          },
        },
      });
      failures = await worker.failuresOf(records);
    }
    expect(rounds).toBeGreaterThan(LIMITS.attemptsMax);
    expect(world.deadLetters.entries).toEqual([]);
    for (const id of all) expect(new Set(world.gateway.textsTo(id))).toEqual(new Set(['a']));
  });

  it('is not one that meets a refusing gateway or an unavailable store, however often', async () => {
    const world = await World.create();
    const all = await world.subscribers(8);
    world.gateway.answer = ({ by }) => (by === 'door' ? 'sent' : 'throttled');
    await world.publish(['a']);
    const records = world.queue.receive();
    for (let round = 0; round < 3 * LIMITS.attemptsMax; round += 1) {
      expect(await world.process({ limits: LIMITS }).failuresOf(records)).toEqual(['message-0']);
    }
    world.gateway.answer = () => 'sent';
    let isAway = true;
    const hooks = {
      before: (call: string) => {
        if (isAway && call === 'read')
          throw Object.assign(new Error('throttled'), { name: 'ThrottlingException' });
      },
    };
    for (let round = 0; round < 3 * LIMITS.attemptsMax; round += 1) {
      expect(await world.process({ limits: LIMITS, hooks }).failuresOf(records)).toEqual(['message-0']);
    }
    isAway = false;
    expect(await world.process({ limits: LIMITS, hooks }).failuresOf(records)).toEqual([]);
    expect(world.deadLetters.entries).toEqual([]);
    for (const id of all) expect(world.gateway.textsTo(id)).toEqual(['a']);
  });

  it('waits when the dead-letter queue is unavailable', async () => {
    const world = await World.create();
    await world.subscribers(3);
    await world.publish(['X']);
    const records = world.queue.receive();
    world.deadLetters.send = async () => {
      throw new Error('no queue');
    };
    for (let round = 0; round < LIMITS.attemptsMax + 3; round += 1) {
      const { worker } = workerFailingAt(world, 'X', 'throws');
      expect(await worker.failuresOf(records)).toEqual(['message-0']);
    }
  });
});
