import {
  type Arrival,
  DEFAULT_SERVICE_TIMES,
  type Histogram,
  NO_QUOTAS,
  Random,
  type Run,
  type RunOptions,
  runModel,
  type ServiceTimes,
  workloadFrom,
} from '@apus/simulation';
import { beforeAll, describe, expect, it } from 'vitest';
import { type EmulatedRun, runEmulated } from './emulated-run.ts';

/** The emulator has no latency for these: a post arrives at once, and a processor takes no virtual time. */
const TIMES: ServiceTimes = {
  ...DEFAULT_SERVICE_TIMES,
  frameCpuMs: 0,
  postCpuMs: 0,
  post: { p50Ms: 0, p99Ms: 0, source: 'the emulator' },
  coldStart: { p50Ms: 0, p99Ms: 0, source: 'the emulator' },
};

/** Real work in virtual time: on a busy machine it takes long. */
const TIMEOUT_MS = 180_000;

/** The moments of publishing, the same for both. */
function poisson(count: number, perSecond: number, publishers: number): Arrival[] {
  const random = new Random(3);
  let atMs = 0;
  return Array.from({ length: count }, () => {
    atMs += random.exponential(1_000 / perSecond);
    return { atMs: Math.round(atMs), publisher: Math.floor(random.next() * publishers) };
  });
}

function predicted(
  publishers: number,
  recipients: number,
  arrivals: readonly Arrival[],
  times = TIMES,
  fanOut?: RunOptions['fanOut'],
): Run {
  const given = {
    connections: 100,
    publishers,
    recipients,
    messagesPerSecond: 1,
    warmUpSeconds: 0,
    shapes: 1,
  };
  const topics = recipients === 1 ? publishers : 1;
  return runModel(workloadFrom({ ...given, topics }), {
    // The default pace of a worker needs at least two workers. At another pace there is one worker for each job.
    quotas: fanOut === undefined ? { ...NO_QUOTAS, maxPostsPerSecond: 1_000 } : NO_QUOTAS,
    times,
    hasStandingLoad: false,
    arrivals,
    ...(fanOut !== undefined && { fanOut }),
  });
}

/** How far apart two quantiles are, as a share. */
function distance(a: Histogram, b: Histogram, share: number): number {
  return Math.abs(a.quantile(share) / b.quantile(share) - 1);
}

describe('1:1, as the emulator runs it and as the simulation predicts it', () => {
  const arrivals = poisson(300, 20, 4);
  let emulated: EmulatedRun;
  let run: Run;

  beforeAll(async () => {
    emulated = await runEmulated({ publishers: 4, recipients: 1, arrivals, times: TIMES });
    run = predicted(4, 1, arrivals);
    report('1:1', emulated, run);
  }, TIMEOUT_MS);

  it('both deliver every message once', () => {
    expect(emulated.delivered).toBe(arrivals.length);
    expect(run.tally.delivered).toBe(arrivals.length);
  });

  it('both count as many frames, replies, posts and invocations, except the few that meet behind a reply', () => {
    for (const name of ['framesIn', 'replies', 'posts', 'invocations'] as const) {
      expect(Math.abs(run.tally[name] / emulated[name] - 1), name).toBeLessThan(0.02);
    }
  });

  it('latencies have the same shape', () => {
    for (const share of [0.5, 0.9, 0.95]) {
      expect(distance(run.tally.deliveryMs, emulated.deliveryMs, share), String(share)).toBeLessThan(0.2);
    }
  });
});

describe('1 to 30, through the queue and its worker', () => {
  const arrivals = poisson(20, 0.5, 1);
  // With twenty messages, each with a latency of its own from a wide range, most of the difference would be chance.
  const times = { ...TIMES, fifoToFunction: { p50Ms: 28, p99Ms: 28, source: 'its median' } };
  let emulated: EmulatedRun;
  let run: Run;

  beforeAll(async () => {
    emulated = await runEmulated({ publishers: 1, recipients: 30, arrivals, times });
    run = predicted(1, 30, arrivals, times);
    report('1:30', emulated, run);
  }, TIMEOUT_MS);

  it('counts are the same', () => {
    expect(run.tally).toMatchObject({
      framesIn: emulated.framesIn,
      replies: emulated.replies,
      posts: emulated.posts,
      delivered: emulated.delivered,
      invocations: emulated.invocations,
      writeUnits: emulated.writeUnits,
    });
  });

  it('latencies have the same shape', () => {
    for (const share of [0.5, 0.9]) {
      expect(distance(run.tally.deliveryMs, emulated.deliveryMs, share), String(share)).toBeLessThan(0.25);
    }
  });
});

describe('1 to 332 in eight shards of forty, each two seconds of a worker', () => {
  const arrivals = [{ atMs: 0, publisher: 0 }];
  const times = { ...TIMES, fifoToFunction: { p50Ms: 28, p99Ms: 28, source: 'its median' } };
  const postsPerWorkerSecond = 20;
  let emulated: EmulatedRun;
  let run: Run;

  beforeAll(async () => {
    const fanOut = { shards: 8, postsPerWorkerSecond };
    emulated = await runEmulated({ publishers: 1, recipients: 320, arrivals, times, fanOut });
    run = predicted(1, 332, arrivals, times, { shardSubscribers: 40, postsPerWorkerSecond });
    report('1:332', emulated, run);
  }, TIMEOUT_MS);

  it('one worker receives all jobs, keeps the first shard, and seven others have one each', () => {
    expect(emulated.invocations).toBe(1 + 8);
    expect(run.tally.invocations).toBe(emulated.invocations);
    // The model's shards are alike. The emulator fills its shards by a hash, and those with more than forty subscribers
    // have two slices. It also reads the queue's backlog, and passes on again the jobs that come in one batch.
    expect(run.tally.writeUnits).toBe(8);
    expect(emulated.writeUnits).toBeLessThanOrEqual(16);
    expect(run.tally.fifoRequests).toBe(1 + 8 * 2 + 7);
    expect(emulated.fifoRequests).toBeLessThanOrEqual(run.tally.fifoRequests + 1 + 6);
  });

  it('every subscriber has the message when one shard is done, not after all shards one after another', () => {
    expect(distance(run.tally.deliveryMs, emulated.deliveryMs, 0.5)).toBeLessThan(0.25);
    expect(run.tally.deliveryMs.max).toBeLessThan(2_500);
    expect(emulated.deliveryMs.max).toBeLessThan(3_500);
  });
});

function report(name: string, emulated: EmulatedRun, { tally }: Run): void {
  const cells = (values: typeof emulated | typeof tally) => {
    const {
      framesIn,
      replies,
      posts,
      invocations,
      delivered,
      readUnits,
      writeUnits,
      fifoRequests,
      deliveryMs,
    } = values;
    const latency = [0.5, 0.9, 0.95, 0.99].map((share) => deliveryMs.quantile(share).toFixed(1));
    return [
      framesIn,
      replies,
      posts,
      invocations,
      delivered,
      readUnits,
      writeUnits,
      fifoRequests,
      ...latency,
    ].join(' ');
  };
  process.stdout.write(`${name} emulated  ${cells(emulated)}\n${name} predicted ${cells(tally)}\n`);
}
