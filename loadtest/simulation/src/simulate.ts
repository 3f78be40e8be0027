import { type Bill, billOf } from '@apus/cost';
import { borneShare, keepsUp } from './backlog.ts';
import { monthOf, usageOfRun } from './costs.ts';
import { type Demand, demandsOf, postsPerSecondOf, raised } from './demands.ts';
import { DEFAULT_QUOTAS, NO_QUOTAS, type Quotas } from './quotas.ts';
import { type Run, type RunOptions, runModel } from './run-model.ts';
import { DEFAULT_SERVICE_TIMES, type ServiceTimes } from './service-times.ts';
import type { SimulatedWorkload } from './workload.ts';

export interface Prediction {
  readonly workload: SimulatedWorkload;
  /** The demand on each quota, the tightest first. */
  readonly demands: readonly Demand[];
  /** With the present quotas, from a start with warm environments. */
  readonly asIs: Run;
  readonly quotas: Quotas;
  /** Whether the backlog stops growing, with the present quotas. */
  readonly keepsUp: boolean;
  /** The rate in messages a second at which it does; undefined if the system keeps up, and if no rate was found. */
  readonly borneMessagesPerSecond: number | undefined;
  /** With the quotas raised that limit the workload and can be raised. */
  readonly lifted: Run;
  readonly liftedQuotas: Quotas;
  /** The cost of a month, or of a single event alone. */
  readonly bill: Bill;
  readonly billedDeliveries: number;
  /** Seconds until all clients are connected, at the quota of new connections. */
  readonly connectSeconds: { readonly asIs: number; readonly lifted: number };
  /** Seconds until Lambda has this many environments, from none. */
  readonly scaleUpSeconds: number;
}

export interface SimulateOptions {
  readonly quotas?: Quotas;
  readonly times?: ServiceTimes;
}

/**
 * Predicts a workload at the gateway door in three runs: without refusals, to see the demand; with the present quotas;
 * and with the quotas that it needs.
 */
export function simulate(workload: SimulatedWorkload, options: SimulateOptions = {}): Prediction {
  const { quotas = DEFAULT_QUOTAS, times = DEFAULT_SERVICE_TIMES } = options;
  const isOnce = workload.messagesOnce > 0;
  // No invocation starts cold: a steady load has enough warm environments.
  const warmTimes = { ...times, coldStart: { ...times.coldStart, p50Ms: 0, p99Ms: 0 } };
  const budget = isOnce ? postsPerSecondOf(workload, times) : Number.POSITIVE_INFINITY;
  const unlimited = { ...NO_QUOTAS, maxPostsPerSecond: budget };
  const free = runModel(workload, { quotas: unlimited, times: warmTimes });
  const demands = demandsOf(workload, free, quotas, times);
  const liftedQuotas = raised(quotas, demands);
  const warm = free.executionsMax * free.parts;
  const asIs = runModel(workload, { quotas, times, warm });
  const lifted = runModel(workload, { quotas: liftedQuotas, times, warm });
  const only = isOnce
    ? runModel(workload, { quotas: unlimited, times: warmTimes, hasStandingLoad: false })
    : free;
  return {
    workload,
    demands,
    asIs,
    quotas,
    keepsUp: isKeptUpIn(asIs),
    borneMessagesPerSecond: borneRate(workload, asIs, { quotas, times, warm }),
    lifted,
    liftedQuotas,
    bill: isOnce ? billOf(usageOfRun(only, 0)) : monthOf(workload, free),
    billedDeliveries: isOnce
      ? only.tally.delivered
      : workload.messagesPerSecond * workload.recipients * 30 * 24 * 3_600,
    connectSeconds: {
      asIs: workload.connections / quotas.newConnectionsPerSecond,
      lifted: workload.connections / liftedQuotas.newConnectionsPerSecond,
    },
    scaleUpSeconds: scaleUpSeconds(warm, quotas.lambdaScalingPerTenSeconds),
  };
}

/** Tries of a rate, and how much lower each is. */
const RATE_TRIES_MAX = 8;
const LOWER = 0.85;

/** A limit of an identity or a tenant that refuses less than this share of the messages only refuses bursts. */
const REFUSED_SHARE_MAX = 0.05;

export function isKeptUpIn(run: Pick<Run, 'backlog' | 'tally' | 'tripsBreaker'>): boolean {
  const { backlog, tally, tripsBreaker } = run;
  if (tripsBreaker || isRefusedIn(run)) return false;
  return backlog === undefined || keepsUp(backlog, tally.published);
}

/** Whether a limit of an identity or a tenant refuses more than bursts. */
export function isRefusedIn({ tally }: Pick<Run, 'tally'>): boolean {
  const refused = tally.publishesOverLimit + tally.framesOverLimit;
  return refused > 1 && refused > REFUSED_SHARE_MAX * tally.published;
}

/** The first guess of the sustainable share of a rate. */
function guessedShare({ backlog, tally, tripsBreaker, messagesPerMinute }: Run, quotas: Quotas): number {
  const ofBreaker = tripsBreaker ? quotas.messagesPerMinuteMax / messagesPerMinute : 1;
  const ofLimits = tally.published === 0 ? 1 : 1 - tally.publishesOverLimit / tally.published;
  const ofBacklog = backlog === undefined ? 1 : borneShare(backlog, tally.published);
  return Math.min(ofBreaker, ofLimits, ofBacklog);
}

/**
 * The rate, with two digits, at which a run keeps up, starting from the rate that the run that fell behind achieved.
 */
function borneRate(workload: SimulatedWorkload, behind: Run, options: RunOptions): number | undefined {
  if (behind.backlog === undefined || isKeptUpIn(behind)) return undefined;
  let rate = workload.messagesPerSecond * guessedShare(behind, options.quotas);
  for (let tries = 0; tries < RATE_TRIES_MAX && rate > 0; tries += 1) {
    const messagesPerSecond = Number(rate.toPrecision(2));
    if (isKeptUpIn(runModel({ ...workload, messagesPerSecond }, options))) return messagesPerSecond;
    rate *= LOWER;
  }
  return undefined;
}

/** The first environments may come at once; then this many after each ten seconds. */
export function scaleUpSeconds(environments: number, perTenSeconds: number): number {
  return Math.max(0, ((environments - perTenSeconds) / perTenSeconds) * 10);
}
