import { describe, expect, it } from 'vitest';
import {
  DEFAULT_QUOTAS,
  DEFAULT_SERVICE_TIMES,
  NO_QUOTAS,
  type Quotas,
  runModel,
  type ServiceTimes,
  SimulationError,
  shardsOf,
  simulate,
  workloadFrom,
} from '../src/index.ts';
import { CONNECTION_SECONDS_MEAN, SIGN_SECONDS } from '../src/standing-load.ts';

const constant = (ms: number) => ({ p50Ms: ms, p99Ms: ms, source: 'the test' });

/** Every duration is fixed, so that sums can be computed by hand. */
const TIMES: ServiceTimes = {
  gatewayHop: constant(5),
  frameCpuMs: 1,
  postCpuMs: 0,
  dynamoCall: constant(4),
  post: constant(10),
  sqsSend: constant(8),
  fifoToFunction: constant(28),
  coldStart: constant(0),
  processorShare: 0.5,
};

/** Room for all that a small test does. */
const OWN = { stageFramesPerSecond: 100_000, maxPostsPerSecond: 100_000, messagesPerMinuteMax: 10_000_000 };
const quotasWith = (given: Partial<Quotas>): Quotas => ({ ...DEFAULT_QUOTAS, ...OWN, ...given });

const alone = { hasStandingLoad: false, times: TIMES } as const;

describe('one message to one, by hand', () => {
  const workload = workloadFrom({ connections: 2, messagesOnce: 1, warmUpSeconds: 0 });
  const { tally } = runModel(workload, { ...alone, quotas: NO_QUOTAS });

  it('is delivered after hop, processor, one call and a post: 5 + 2 + 4 + 10 ms', () => {
    expect(tally.deliveryMs.mean).toBe(21);
  });

  it('is answered after the post and a hop: 26 ms', () => {
    expect(tally.acknowledgeMs.mean).toBe(26);
  });

  it('bills a frame, a reply, a post, an invocation of 16 ms, three reads and one of the registry', () => {
    expect(tally).toMatchObject({
      framesIn: 1,
      replies: 1,
      posts: 1,
      invocations: 1,
      billedMs: 16,
      readUnits: 4,
    });
  });
});

describe('clients that say nothing', () => {
  const connections = 100_000;
  const seconds = 600;
  const workload = workloadFrom({
    connections,
    publishers: 1,
    messagesPerSecond: 1,
    warmUpSeconds: 0,
    seconds,
  });
  const { tally } = runModel(workload, { times: TIMES, quotas: NO_QUOTAS });
  const published = tally.posts;
  const moves = (connections * seconds) / CONNECTION_SECONDS_MEAN;
  const signs = (connections * seconds) / SIGN_SECONDS;
  const expectNear = (count: number, expected: number) => {
    expect(count).toBeGreaterThan(0.98 * expected);
    expect(count).toBeLessThan(1.02 * expected);
  };

  it('send a frame each nine minutes, and one for each move', () => {
    expectNear(tally.framesIn - published, signs + moves);
  });

  it('are answered, and invoke a function, at each fourth of them and at their moves', () => {
    expectNear(tally.replies - published, signs / 4 + moves);
    // A move has the handshake, the frame, and the end of the connection before.
    expectNear(tally.invocations - published, signs / 4 + 3 * moves);
  });
});

describe('one message to many', () => {
  it('2,012: twelve by the frame, two shards of a thousand with two slices each, one request for both jobs', () => {
    const workload = workloadFrom({
      connections: 3_000,
      messagesOnce: 1,
      recipients: 2_012,
      warmUpSeconds: 0,
    });
    const { tally } = runModel(workload, { ...alone, quotas: quotasWith({}) });
    expect(shardsOf(2_000)).toBe(2);
    expect(tally).toMatchObject({
      posts: 2_012,
      delivered: 2_012,
      // Both jobs come in one batch, whose worker hands the second on: a shard of a thousand takes two seconds.
      invocations: 1 + 2,
      fifoJobs: 2,
      fifoRequests: 1 + 2 + 1 + 2,
      writeUnits: 4,
    });
  });

  it('10,000 in sixteen shards: both workers have eight of them, 5,000 posts at 500 a second, 10 s', () => {
    const workload = workloadFrom({
      connections: 20_000,
      messagesOnce: 1,
      recipients: 10_012,
      warmUpSeconds: 0,
    });
    const { tally } = runModel(workload, { ...alone, quotas: quotasWith({ maxPostsPerSecond: 1_000 }) });
    expect(tally.invocations).toBe(1 + 16);
    // Each of the eight comes through the queue, and begins with a burst of a tenth of a second.
    expect(tally.deliveryMs.max).toBeGreaterThan(10_000 - 8 * 100);
    expect(tally.deliveryMs.max).toBeLessThan(10_000 + 8 * 100);
  });

  it('to each of four hundreds: one worker serves the batch, as no hundred is worth a way through the queue', () => {
    const given = { connections: 2_000, publishers: 4, topics: 1_000, recipients: 112, warmUpSeconds: 0 };
    const { tally } = runModel(workloadFrom({ ...given, messagesOnce: 4 }), { ...alone, quotas: NO_QUOTAS });
    expect(tally).toMatchObject({ delivered: 448, invocations: 4 + 1, fifoJobs: 4, fifoRequests: 4 + 2 });
  });

  it('waits for workers that came before it: a second batch of the same shard follows the first', () => {
    const batches = { topics: 1, fanOutBatchSize: 1 };
    const given = { connections: 2_000, publishers: 2, recipients: 512, warmUpSeconds: 0, ...batches };
    const quotas = quotasWith({ maxPostsPerSecond: 1_000 });
    const one = runModel(workloadFrom({ ...given, messagesOnce: 1 }), { ...alone, quotas });
    const two = runModel(workloadFrom({ ...given, messagesOnce: 2 }), { ...alone, quotas });
    // 500 posts at 500 a second of one worker: a second each, less the burst after a pause.
    expect(two.tally.deliveryMs.max - one.tally.deliveryMs.max).toBeGreaterThan(850);
  });

  describe('ten messages to one shard at once', () => {
    const given = { connections: 2_000, publishers: 10, topics: 1, recipients: 512, warmUpSeconds: 0 };
    const quotas = quotasWith({ maxPostsPerSecond: 1_000 });
    const run = (more: object) =>
      runModel(workloadFrom({ ...given, messagesOnce: 10, ...more }), { ...alone, quotas }).tally;
    const inline = 10 * 12;

    it('are two batches, in the second of which nine share posts and claims', () => {
      expect(run({})).toMatchObject({
        delivered: 5_120,
        posts: inline + 1_000,
        writeUnits: 2,
        fifoRequests: 14,
      });
    });

    it('are posts of their own where a worker is given one job at a time', () => {
      const { posts, writeUnits, fifoRequests } = run({ fanOutBatchSize: 1 });
      expect([posts, writeUnits, fifoRequests]).toEqual([inline + 5_000, 10, 30]);
    });

    it('share a post as far as its bytes go: two of 10,000 bytes, so nine are five posts', () => {
      expect(run({ payloadBytes: 10_000 }).posts).toBe(inline + (1 + 5) * 500);
    });
  });

  it('a shard for which a worker has no time comes again at once', () => {
    const workload = workloadFrom({
      connections: 100_000,
      messagesOnce: 1,
      recipients: 16_012,
      warmUpSeconds: 0,
    });
    // Sixteen shards of a thousand, and 100 posts a second for each of two workers: 80 s, of which each invocation has 26.
    const { tally } = runModel(workload, { ...alone, quotas: quotasWith({ maxPostsPerSecond: 200 }) });
    expect(tally.delivered).toBe(16_012);
    expect(tally.deliveryMs.max).toBeGreaterThan(79_000);
    expect(tally.deliveryMs.max).toBeLessThan(83_000);
  });

  it.each([
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [1_000_000, 256],
  ])('%i subscribers stand in %i shards', (recipients, shards) => {
    expect(shardsOf(recipients)).toBe(shards);
  });
});

describe('throttles', () => {
  it('frames beyond the stage are refused, and those of QoS 1 come again', () => {
    const workload = workloadFrom({
      connections: 2_000,
      messagesPerSecond: 200,
      seconds: 20,
      warmUpSeconds: 0,
    });
    const quotas = quotasWith({ stageFramesPerSecond: 100 });
    const { tally } = runModel(workload, { ...alone, quotas });
    expect(tally.framesRefused).toBeGreaterThan(1_000);
    // The burst is two seconds of it.
    expect(tally.framesIn).toBeLessThanOrEqual(20 * 100 + 200);
    expect(tally.deliveriesLost).toBe(0);
  });

  it('at QoS 0 they are lost', () => {
    const given = { connections: 2_000, messagesPerSecond: 200, qos: 0, seconds: 20, warmUpSeconds: 0 };
    const { tally } = runModel(workloadFrom(given), {
      ...alone,
      quotas: quotasWith({ stageFramesPerSecond: 100 }),
    });
    // A publisher that has gathered another message while it was away sends two in its frame.
    expect(tally.deliveriesLost).toBeGreaterThanOrEqual(tally.framesRefused);
    expect(tally.delivered + tally.deliveriesLost).toBeLessThanOrEqual(tally.published);
  });

  it('a table that is throttled is asked again, and after five times the frame fails', () => {
    const workload = workloadFrom({
      connections: 2_000,
      messagesPerSecond: 200,
      seconds: 10,
      warmUpSeconds: 0,
    });
    const { tally } = runModel(workload, { ...alone, quotas: quotasWith({ tableReadsPerSecond: 300 }) });
    expect(tally.framesFailed).toBeGreaterThan(0);
    expect(tally.dynamoThrottled).toBeGreaterThanOrEqual(5 * tally.framesFailed);
    expect(tally.readUnits).toBeLessThanOrEqual(300 * 11);
  });

  it('a message group takes 300 calls a second: further sends are refused, and their frames fail', () => {
    const given = { connections: 4_000, topics: 1, recipients: 13, messagesPerSecond: 400, seconds: 10 };
    const quotas = quotasWith({ lambdaConcurrency: 10_000 });
    const run = (topics: number) =>
      runModel(workloadFrom({ ...given, topics, warmUpSeconds: 0 }), { ...alone, quotas }).tally;
    const { queueThrottled, framesFailed, fifoJobs } = run(1);
    expect(framesFailed).toBeGreaterThan(0);
    expect(queueThrottled).toBeGreaterThanOrEqual(4 * framesFailed);
    // The burst is a second of it.
    expect(fifoJobs).toBeLessThanOrEqual(300 * 11);
    expect(run(4).queueThrottled).toBe(0);
  });

  it('messages that gather while a publisher waits share a frame', () => {
    const workload = workloadFrom({
      connections: 2,
      publishers: 1,
      messagesPerSecond: 1_000,
      seconds: 10,
      warmUpSeconds: 0,
    });
    const { tally } = runModel(workload, { ...alone, quotas: NO_QUOTAS });
    // A reply takes 26 ms: about 26 messages each.
    expect(tally.published / tally.framesIn).toBeGreaterThan(20);
    expect(tally.published / tally.framesIn).toBeLessThan(32);
  });
});

describe('a prediction', () => {
  const given = { connections: 20_000, messagesPerSecond: 6_000, seconds: 4, warmUpSeconds: 1 };

  it('names the quota that binds first, and the raised one is enough', () => {
    const { demands, lifted, liftedQuotas } = simulate(workloadFrom(given), { quotas: quotasWith({}) });
    // Three units and more for each frame, of 12,000 a second.
    expect(demands[0]?.quota).toBe('tableReadsPerSecond');
    // A frame in and a post for each message, beside what idle connections cause.
    const requests = demands.find(({ quota }) => quota === 'requestsPerSecond');
    expect(requests?.asked).toBeGreaterThan(11_900);
    expect(requests?.asked).toBeLessThan(12_500);
    expect(liftedQuotas.requestsPerSecond).toBeGreaterThan(15_000);
    expect(lifted.tally).toMatchObject({
      framesRefused: 0,
      framesWithoutFunction: 0,
      postsRefused: 0,
      framesFailed: 0,
    });
  });

  it('is the same for the same seed, and another for another', () => {
    const of = (seed: number) => simulate(workloadFrom({ ...given, seed })).asIs.tally;
    expect(of(1)).toEqual(of(1));
    expect(of(1)).not.toEqual(of(2));
  });

  it('of a part of the traffic with that part of the quotas is that of the whole', () => {
    const workload = workloadFrom({ ...given, seconds: 9 });
    const times = DEFAULT_SERVICE_TIMES;
    const quotas = NO_QUOTAS;
    const whole = runModel(workload, { quotas, times, messagesMax: Number.POSITIVE_INFINITY });
    const part = runModel(workload, { quotas, times, messagesMax: 20_000 });
    expect(whole.parts).toBe(1);
    expect(part.parts).toBe(3);
    expect(Math.abs((part.tally.framesIn * part.parts) / whole.tally.framesIn - 1)).toBeLessThan(0.02);
    const p99 = (run: typeof whole) => run.tally.deliveryMs.quantile(0.99);
    expect(Math.abs(p99(part) / p99(whole) - 1)).toBeLessThan(0.05);
  });
});

describe('a workload', () => {
  it.each<[unknown, RegExp]>([
    [undefined, /is an object/],
    [{}, /needs the number of its connections/],
    [{ connections: 0, messagesOnce: 1 }, /"connections" is a whole number from 1/],
    [{ connections: 1, messagesOnce: 1, speed: 1 }, /"speed" is no field/],
    [{ connections: 1 }, /needs "messagesPerSecond" or "messagesOnce"/],
    [{ connections: 1, messagesOnce: 1, messagesPerSecond: 1 }, /and not both/],
    [{ connections: 1, messagesOnce: 1, qos: 2 }, /"qos"/],
  ])('%j is refused in a sentence', (given, sentence) => {
    expect(() => workloadFrom(given)).toThrow(SimulationError);
    expect(() => workloadFrom(given)).toThrow(sentence);
  });

  it('with more deliveries of wide filters than can be followed says so', () => {
    const workload = workloadFrom({ connections: 1_000_000, recipients: 10_000, messagesPerSecond: 1_000 });
    expect(() => simulate(workload)).toThrow(/simulate fewer seconds/);
  });
});
