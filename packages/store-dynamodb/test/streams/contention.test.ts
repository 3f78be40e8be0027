import { readStreams, type StreamDeclaration } from '@apus/broker';
import { numberedMessage } from '@apus/broker/samples';
import { createDynamoDb } from '@apus/emulated-aws';
import { createDynamoStores, defineTable, leanClient } from '@apus/store-dynamodb';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { sized } from '../../../../test/support/runs.ts';

const TABLE = 'apus-streams';
const TOPIC = 's/a';
const [STREAM] = readStreams([{ name: 's', topicFilter: 's/#', messagesMax: 100_000 }], 'streams').all as [
  StreamDeclaration,
];

/** Milliseconds of a call to DynamoDB: log-normal, with a median of 4 and a 99th percentile of 15. */
const MEDIAN_MS = 4;
const SIGMA = Math.log(15 / MEDIAN_MS) / 2.326;

/** Appends of one topic that begin in so many seconds of virtual time. */
const SECONDS = sized(2, 4);

/** Appends to one topic at these rates, in virtual time: how many writes each one takes. */
describe('one topic that many publish to', () => {
  it.each([
    [10, 1.2],
    [50, 1.5],
    [100, 2],
    [150, 3],
    [200, 5],
  ])('takes %i messages a second, with at most %d writes for each', async (perSecond, writesMax) => {
    const { writes, contended, tookMs } = await load(perSecond);
    expect(contended).toBe(0);
    expect(writes).toBeLessThanOrEqual(writesMax);
    expect(slowest(tookMs, 0.01)).toBeLessThan(250);
  });

  it('refuses some of 300 a second, at once, and has a place for each of the others', async () => {
    const { writes, contended, numbers, tookMs } = await load(300);
    expect(contended).toBeGreaterThan(0);
    expect(writes).toBeLessThanOrEqual(20);
    expect(Math.max(...tookMs)).toBeLessThan(2_500);
    expect([...numbers].sort((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
  });
});

/** The time that this share of the appends exceeds. */
function slowest(tookMs: readonly number[], share: number): number {
  return [...tookMs].sort((a, b) => b - a)[Math.floor(tookMs.length * share)] ?? 0;
}

async function load(perSecond: number) {
  const time = new VirtualTime();
  const random = seeded(perSecond);
  const dynamoDb = createDynamoDb({ seed: 1 });
  const client = leanClient(dynamoDb.clientConfig());
  await client.send(new CreateTableCommand(defineTable(TABLE)));
  let writes = 0;
  const callMs = () => MEDIAN_MS * Math.exp(SIGMA * normal(random));
  const send = async (command: object) => {
    if (command.constructor.name === 'PutItemCommand') writes += 1;
    const half = callMs() / 2;
    await time.pass(half);
    // The store sees the log as it is in the middle of the call.
    try {
      return await time.during(client.send(command as never));
    } finally {
      await time.pass(half);
    }
  };
  const { streams } = createDynamoStores({
    client: { send: send as never },
    tableName: TABLE,
    clock: { now: () => time.nowMs },
    sleep: (ms) => time.pass(ms),
    random,
  });
  const tookMs: number[] = [];
  const numbers: number[] = [];
  let contended = 0;
  const append = async (number: number, atMs: number) => {
    await time.pass(atMs);
    const beganMs = time.nowMs;
    const options = { key: undefined, nowMs: beganMs, isForced: false };
    const appended = await streams.append('t', STREAM, numberedMessage(number, { topic: TOPIC }), options);
    if (appended === 'contended') contended += 1;
    else if (appended !== 'full') numbers.push(appended.entry.number);
    tookMs.push(time.nowMs - beganMs);
  };
  const appends: Promise<void>[] = [];
  for (
    let atMs = 1_000;
    atMs < 1_000 + SECONDS * 1_000;
    atMs += -Math.log(1 - random()) * (1_000 / perSecond)
  )
    appends.push(append(appends.length, atMs));
  await time.run(Promise.all(appends));
  return { writes: writes / appends.length, contended, numbers, tookMs };
}

/** Time that passes when nothing but a wait is left. */
class VirtualTime {
  nowMs = 1_700_000_000_000;
  #waiting: { readonly atMs: number; readonly wake: () => void }[] = [];
  #busy = 0;

  async pass(ms: number): Promise<void> {
    const atMs = this.nowMs + ms;
    await new Promise<void>((wake) => this.#waiting.push({ atMs, wake }));
  }

  /** No time passes while it runs. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await work;
    } finally {
      this.#busy -= 1;
    }
  }

  async run(all: Promise<unknown>): Promise<void> {
    let isOver = false;
    void all.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#busy > 0 || isOver) continue;
      this.#waiting.sort((a, b) => a.atMs - b.atMs);
      const next = this.#waiting.shift();
      if (next === undefined) continue;
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.wake();
    }
  }
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** The same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
}
