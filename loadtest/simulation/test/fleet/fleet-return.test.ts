import { describe, expect, it } from 'vitest';
import {
  bufferCapacity,
  bufferWrites,
  DEFAULT_QUOTAS,
  Fleet,
  type FleetWorkload,
  fleetFrom,
  fleetText,
  NO_QUOTAS,
  outcomeOf,
  type Quotas,
  returnOf,
  type ServiceTimes,
  SimulationError,
  simulateFleet,
  WAYS,
  type Way,
} from '../../src/index.ts';

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

const unlimited = (given: Partial<Quotas> = {}): Quotas => ({ ...NO_QUOTAS, ...given });

function run(given: Partial<FleetWorkload>, way: Way, quotas: Quotas, firstWaitSeconds = 0): Fleet {
  const fleet = new Fleet(fleetFrom(given), { way, firstWaitSeconds, quotas, times: TIMES });
  fleet.run();
  return fleet;
}

/** Messages of a client that were sent up to a time, counted one by one. */
function sentUntil(firstMs: number, everyMs: number, untilMs: number): number {
  let sent = 0;
  for (let atMs = firstMs; atMs <= untilMs; atMs += everyMs) sent += 1;
  return sent;
}

describe('a fleet of which no client is refused', () => {
  // $connect 5 + 2 + 5, CONNECT 5 + 2 + 8 + 5, SUBSCRIBE 5 + 2 + 20 + 5, and the wait of 1 ms before all of them.
  it('has reconnected after 1 + 12 + 20 + 32 ms, each client with one try', () => {
    const outcome = outcomeOf(run({ clients: 500 }, 'reconnect', unlimited()));
    expect(outcome.backSeconds).toEqual({
      half: 0.065,
      ninetyPercent: 0.065,
      ninetyNinePercent: 0.065,
      all: 0.065,
    });
    expect(outcome).toMatchObject({ triesMedian: 1, triesMax: 1, handshakes: 500, handshakesRefused: 0 });
  });

  it('has resumed after 1 + 12 + 36 ms, with one frame, and has lost nothing', () => {
    const outcome = outcomeOf(run({ clients: 500, messageEverySeconds: 0.1 }, 'resume', unlimited()));
    expect(outcome.backSeconds.all).toBe(0.049);
    expect(outcome).toMatchObject({ resumed: 500, lostShare: 0, gapsTold: 0 });
  });

  it('is back within the wait before the first try, if there is one', () => {
    const { backSeconds, triesMax } = outcomeOf(run({ clients: 2_000 }, 'reconnect', unlimited(), 60));
    expect(triesMax).toBe(1);
    expect(backSeconds.half).toBeGreaterThan(27);
    expect(backSeconds.half).toBeLessThan(33);
    expect(backSeconds.all).toBeLessThan(60.1);
  });
});

describe('a fleet of 2,000 with 20 new connections a second', () => {
  const given = { clients: 2_000, messageEverySeconds: 5 };
  const quotas = unlimited({ newConnectionsPerSecond: 20 });

  it.each(WAYS)('by way of "%s" never is back faster than the quota lets in', (way) => {
    const { clients } = run(given, way, quotas);
    const back = clients.map(({ backAtMs }) => backAtMs).sort((a, b) => a - b);
    expect(back.every((atMs, index) => index + 1 <= 20 + (20 * atMs) / 1_000)).toBe(true);
    expect(back.at(-1)).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  it('has refused every handshake but one for each client', () => {
    const { handshakes, handshakesRefused } = outcomeOf(run(given, 'reconnect', quotas));
    expect(handshakesRefused).toBe(handshakes - 2_000);
    expect(handshakesRefused).toBeGreaterThan(2_000);
  });

  it('is refused least if the first wait is as long as the quota needs for all', () => {
    const spread = outcomeOf(run(given, 'reconnect', quotas, 100));
    const atOnce = outcomeOf(run(given, 'reconnect', quotas));
    expect(spread.handshakesRefused).toBeLessThan(atOnce.handshakesRefused / 20);
    expect(spread.backSeconds.all).toBeLessThan(atOnce.backSeconds.all);
  });

  it('loses by reconnecting the messages that were sent until SUBSCRIBE, and no others', () => {
    const { clients } = run(given, 'reconnect', quotas);
    for (const { messages, messagesLost, servedAtMs } of clients) {
      expect(messagesLost).toBe(sentUntil(messages.firstAtMs, 5_000, servedAtMs));
    }
  });

  it('loses nothing where sessions are kept', () => {
    expect(outcomeOf(run(given, 'kept session', quotas)).lostShare).toBe(0);
  });

  it('resumes within the grace and not after it: no more clients than the quota lets in until then', () => {
    const { clients } = run({ ...given, resumeSeconds: 30 }, 'resume', quotas);
    for (const { isResumed, servedAtMs, messagesLost, messages } of clients) {
      expect(isResumed).toBe(servedAtMs < 30_000);
      expect(messagesLost).toBe(isResumed ? 0 : sentUntil(messages.firstAtMs, 5_000, servedAtMs));
    }
    const resumed = clients.filter(({ isResumed }) => isResumed).length;
    expect(resumed).toBeGreaterThan(550);
    expect(resumed).toBeLessThanOrEqual(20 + 20 * 30);
  });

  it('comes back as by reconnecting where no session can be resumed', () => {
    const resumed = run({ ...given, resumeSeconds: 0 }, 'resume', quotas);
    const reconnected = run(given, 'reconnect', quotas);
    const of = (fleet: Fleet) =>
      fleet.clients.map(({ tries, backAtMs, messagesLost }) => ({ tries, backAtMs, messagesLost }));
    expect(of(resumed)).toEqual(of(reconnected));
  });

  it('is told of a gap by what its buffers have not held', () => {
    const { clients } = run({ ...given, messageEverySeconds: 0.5, bufferMessages: 10 }, 'resume', quotas);
    const resumed = clients.filter(({ isResumed }) => isResumed);
    for (const { messages, messagesLost, servedAtMs, isToldGap } of resumed) {
      const sent = sentUntil(messages.firstAtMs, 500, servedAtMs);
      expect(messagesLost).toBe(Math.max(0, sent - 10));
      expect(isToldGap).toBe(sent > 10);
    }
    expect(resumed.some(({ isToldGap }) => isToldGap)).toBe(true);
    expect(resumed.some(({ isToldGap }) => !isToldGap)).toBe(true);
  });
});

describe('behind the quota of new connections', () => {
  it('a throttle of frames closes connections, which are opened again', () => {
    const quotas = unlimited({ stageFramesPerSecond: 30 });
    const outcome = outcomeOf(run({ clients: 500 }, 'reconnect', quotas));
    expect(outcome.handshakesRefused).toBe(0);
    expect(outcome.framesRefused).toBeGreaterThan(500);
    // Three requests for each client, and a burst of two seconds.
    expect(outcome.backSeconds.all).toBeGreaterThan((3 * 500 - 60) / 30);
  });

  it('the `$disconnect` of all clients takes the functions first', () => {
    const quotas = { ...DEFAULT_QUOTAS, stageFramesPerSecond: 3_000 };
    const outcome = returnOf(fleetFrom({ clients: 1_500 }), { way: 'reconnect', quotas });
    expect(outcome.framesWithoutFunction).toBeGreaterThan(500);
    expect(outcome.backSeconds.half).toBeGreaterThan(1);
    expect(outcome.backSeconds.all).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  it('clients that are not back after two hours count as away', () => {
    const { backSeconds } = outcomeOf(
      run({ clients: 100 }, 'reconnect', unlimited({ newConnectionsPerSecond: 0.01 })),
    );
    expect(backSeconds.half).toBeGreaterThan(3_000);
    expect(backSeconds.all).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('the buffer of a lost session', () => {
  it('holds 32 messages, or as many as fit into 8 KB', () => {
    expect(bufferCapacity(fleetFrom({ payloadBytes: 200 }))).toBe(32);
    expect(bufferCapacity(fleetFrom({ payloadBytes: 993 }))).toBe(8);
  });

  it('is written anew with each message: of 600 bytes, 1 + 2 + 2 + 3 units', () => {
    expect(bufferWrites(4, 600)).toBe(8);
  });
});

describe('a prediction', () => {
  const fleet = fleetFrom({ clients: 2_000, firstWaitSeconds: 10 });

  it('compares each way without a first wait, with the one given, and with the one that fits the quota', () => {
    const { outcomes } = simulateFleet(fleet);
    expect(outcomes.map(({ way, firstWaitSeconds }) => `${way} ${firstWaitSeconds}`)).toEqual(
      [0, 10, 4].flatMap((seconds) => WAYS.map((way) => `${way} ${seconds}`)),
    );
  });

  it('is the same for the same seed, and another for another', () => {
    expect(simulateFleet(fleet)).toEqual(simulateFleet(fleet));
    expect(simulateFleet(fleetFrom({ ...fleet, seed: 2 })).outcomes).not.toEqual(
      simulateFleet(fleet).outcomes,
    );
  });

  it('bills the use: a frame of one way more than of the other', () => {
    const usd = (way: Way) => outcomeOf(run({ clients: 1_000 }, way, unlimited())).usd;
    expect(usd('reconnect')).toBeGreaterThan(usd('resume'));
  });

  it('reads as tables', () => {
    expect(fleetText(simulateFleet(fleet))).toMatch(/resume +0 to 10 s .*\n/);
  });

  it.each<[unknown, RegExp]>([
    [{ clients: 0 }, /"clients" is a whole number from 1/],
    [{ speed: 1 }, /"speed" is no field/],
    [{ resumeSeconds: -1 }, /"resumeSeconds"/],
  ])('of %j is refused in a sentence', (given, sentence) => {
    expect(() => fleetFrom(given)).toThrow(SimulationError);
    expect(() => fleetFrom(given)).toThrow(sentence);
  });
});
