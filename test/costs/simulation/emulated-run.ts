import type { ServiceTimes } from '@apus/simulation';
import { type Arrival, Histogram, Random } from '@apus/simulation';
import { leanClient } from '@apus/store-dynamodb';
import { headKey, VERSION } from '@apus/store-dynamodb/testing';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { TABLE } from '../../cloud/names.ts';
import { type InProcessWorld, startCloudInProcess } from '../../cloud/start-cloud-in-process.ts';
import { SimClient } from '../../faults/sim-client.ts';
import { Trace } from '../../faults/trace.ts';
import { VirtualTime } from '../../faults/virtual-time.ts';

/** The emulator's counts of a run, under the names of the simulation. */
export interface EmulatedRun {
  readonly framesIn: number;
  readonly replies: number;
  readonly posts: number;
  readonly invocations: number;
  readonly delivered: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly fifoRequests: number;
  readonly deliveryMs: Histogram;
}

export interface EmulatedWorkload {
  readonly publishers: number;
  /**
   * Subscribers of each message. With one, each publisher has a subscriber of its own; with more, all publishers have
   * the same.
   */
  readonly recipients: number;
  readonly arrivals: readonly Arrival[];
  readonly times: ServiceTimes;
  /** Shards of the topic's filter, and the pace of a worker. @default one, and a deployment's */
  readonly fanOut?: { readonly shards: number; readonly postsPerWorkerSecond: number };
}

/** The time after which nothing is in flight any more. */
const IDLE_MS = 10_000;

/** The same workload through the functions themselves, behind the emulators, with the same latencies, in virtual time. */
export async function runEmulated(workload: EmulatedWorkload): Promise<EmulatedRun> {
  const { publishers, recipients, arrivals, times, fanOut } = workload;
  const time = new VirtualTime(1);
  const random = new Random(11);
  // The preparation is not measured, and needs no virtual time.
  let isMeasured = false;
  const delay = (latency: ServiceTimes['post']) => () => (isMeasured ? random.latency(latency) : 0);
  const world = await time.during(
    startCloudInProcess({
      seed: 1,
      random: () => 0.99,
      faults: {
        shuffle: 0,
        invocationDelayMs: delay(times.gatewayHop),
        replyDelayMs: delay(times.gatewayHop),
        sqsLatencyMs: delay(times.sqsSend),
        eventSourceDelayMs: delay(times.fifoToFunction),
      },
      dynamoFaults: { latencyMs: delay(times.dynamoCall) },
      ...(fanOut !== undefined && { workerLimits: { postsPerSecond: fanOut.postsPerWorkerSecond } }),
    }),
  );
  const deliveryMs = new Histogram();
  const clients: SimClient[] = [];
  const open = async (clientId: string): Promise<SimClient> => {
    const client = new SimClient(
      world.emulator,
      { clientId, sessionExpirySeconds: 0, isSingle: true },
      { message: (_topic, publishedAtMs) => deliveryMs.add(time.nowMs - Number(publishedAtMs)) },
      new Trace(() => time.nowMs),
    );
    clients.push(client);
    await time.advance(500);
    return client;
  };
  try {
    const topicOf = (publisher: number) => (recipients === 1 ? `pair/${publisher}` : 'pair/all');
    if (fanOut !== undefined) await time.during(widen(world, topicOf(0), fanOut.shards));
    for (let index = 0; index < Math.max(publishers, recipients); index += 1) {
      const subscriber = await open(`subscriber-${index}`);
      await time.during(subscriber.subscribe(topicOf(index), 1));
    }
    const opened: SimClient[] = [];
    for (let index = 0; index < publishers; index += 1) opened.push(await open(`publisher-${index}`));
    await time.advance(IDLE_MS);
    isMeasured = true;
    world.emulator.counters.reset();
    world.dynamoDb.counters.reset();
    for (const { atMs, publisher } of arrivals) {
      setTimeout(() => {
        opened[publisher]?.publish(topicOf(publisher), String(time.nowMs), { qos: 1 });
      }, atMs);
    }
    await time.advance((arrivals.at(-1)?.atMs ?? 0) + IDLE_MS);
    const { messages, lambda, sqs } = world.emulator.counters.snapshot();
    const { total } = world.dynamoDb.counters.snapshot();
    if (world.failures.length > 0) throw new Error(world.failures.join('\n'));
    return {
      framesIn: messages.in.count,
      replies: messages.replies.count,
      posts: messages.posts.count,
      invocations: lambda.invocations,
      delivered: deliveryMs.count,
      readUnits: total.readUnits,
      writeUnits: total.writeUnits,
      fifoRequests: sqs.billed.fifo - sqs.idlePolls.fifo,
      deliveryMs,
    };
  } finally {
    for (const client of clients) client.stop();
    await time.advance(1_000);
    world.stop();
    time.restore();
  }
}

/** A filter that has grown to this many shards: new subscribers are spread over all of them. */
async function widen({ dynamoDb }: InProcessWorld, topicFilter: string, shards: number): Promise<void> {
  const { p, s } = headKey('default', topicFilter);
  const head = { p: { S: p }, s: { S: s }, v: { N: String(VERSION) }, k: { N: String(shards) } };
  await leanClient(dynamoDb.clientConfig()).send(new PutItemCommand({ TableName: TABLE, Item: head }));
}
