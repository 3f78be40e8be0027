import { billOf } from '@apus/cost';
import { usageOfRun } from '../costs.ts';
import { DEFAULT_QUOTAS, type Quotas } from '../quotas.ts';
import { DEFAULT_SERVICE_TIMES, type ServiceTimes } from '../service-times.ts';
import { Fleet, type Way } from './fleet.ts';
import type { FleetWorkload } from './workload.ts';

/** The return of a fleet in one way. */
export interface Outcome {
  readonly way: Way;
  readonly firstWaitSeconds: number;
  /** Seconds from the cut until this share is back; Infinity if they are not back within two hours. */
  readonly backSeconds: {
    readonly half: number;
    readonly ninetyPercent: number;
    readonly ninetyNinePercent: number;
    readonly all: number;
  };
  readonly resumed: number;
  readonly triesMedian: number;
  readonly triesMax: number;
  readonly handshakes: number;
  readonly handshakesRefused: number;
  /** The most handshakes within one second, refused or not. */
  readonly handshakesPeak: number;
  readonly lostMedian: number;
  readonly lostP99: number;
  /** The share of clients that have lost a message. */
  readonly lostShare: number;
  readonly gapsTold: number;
  /**
   * Refusals by the stage's throttle or the account's: frames, and handshakes that the quota of new connections had
   * admitted.
   */
  readonly framesRefused: number;
  readonly framesWithoutFunction: number;
  readonly framesFailed: number;
  readonly dynamoThrottled: number;
  readonly usd: number;
}

export interface OutcomeOptions {
  readonly way: Way;
  /** @default 0 */
  readonly firstWaitSeconds?: number;
  /** @default the defaults of an account and of a deployment */
  readonly quotas?: Quotas;
  readonly times?: ServiceTimes;
}

/** Cuts the fleet, and reports how it returns. */
export function returnOf(workload: FleetWorkload, options: OutcomeOptions): Outcome {
  const { way, firstWaitSeconds = 0, quotas = DEFAULT_QUOTAS, times = DEFAULT_SERVICE_TIMES } = options;
  const fleet = new Fleet(workload, { way, firstWaitSeconds, quotas, times });
  fleet.run();
  return outcomeOf(fleet);
}

export function outcomeOf(fleet: Fleet): Outcome {
  const { clients, model, way, rule } = fleet;
  const { tally, account } = model;
  const backMs = sorted(clients.map(({ backAtMs }) => backAtMs));
  const tries = sorted(clients.map((client) => client.tries));
  const lost = sorted(clients.map(({ messagesLost }) => messagesLost));
  return {
    way,
    firstWaitSeconds: rule.firstWaitSeconds,
    backSeconds: {
      half: quantile(backMs, 0.5) / 1_000,
      ninetyPercent: quantile(backMs, 0.9) / 1_000,
      ninetyNinePercent: quantile(backMs, 0.99) / 1_000,
      all: quantile(backMs, 1) / 1_000,
    },
    resumed: clients.filter(({ isResumed }) => isResumed).length,
    triesMedian: quantile(tries, 0.5),
    triesMax: quantile(tries, 1),
    handshakes: tries.reduce((sum, each) => sum + each, 0),
    handshakesRefused: fleet.handshakesRefused,
    handshakesPeak: account.newConnections.peakPerSecond,
    lostMedian: quantile(lost, 0.5),
    lostP99: quantile(lost, 0.99),
    lostShare: lost.filter((messages) => messages > 0).length / clients.length,
    gapsTold: clients.filter(({ isToldGap }) => isToldGap).length,
    framesRefused: tally.framesRefused,
    framesWithoutFunction: tally.framesWithoutFunction,
    framesFailed: tally.framesFailed,
    dynamoThrottled: tally.dynamoThrottled,
    usd: billOf(usageOfRun({ tally, parts: 1 }, 0)).usd,
  };
}

function sorted(numbers: readonly number[]): Float64Array {
  return Float64Array.from(numbers).sort();
}

/** The smallest number that this share does not exceed. */
function quantile(numbers: Float64Array, share: number): number {
  return numbers[Math.max(0, Math.ceil(share * numbers.length) - 1)] ?? Number.NaN;
}
