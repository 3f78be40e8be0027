import { TENANT_SHARE } from './client-limits.ts';
import { secondsUntilAllWork, shardsOf } from './fan-out-workers.ts';
import { REQUESTS_PER_ENVIRONMENT_SECOND } from './lambda-pool.ts';
import { INLINE_RECIPIENTS } from './publishing.ts';
import { QUOTA_KINDS, type QuotaKind, type QuotaName, type Quotas, quotasFrom } from './quotas.ts';
import type { Run } from './run-model.ts';
import type { ServiceTimes } from './service-times.ts';
import type { SimulatedWorkload } from './workload.ts';

/** The demand of a workload on one quota. */
export interface Demand extends Pick<QuotaKind, 'label' | 'raisedBy' | 'how'> {
  readonly quota: QuotaName;
  readonly asked: number;
  readonly allowed: number;
  /** Above 1 the quota limits the workload. */
  readonly ratio: number;
}

/** Room above the demand for bursts, a reconnecting fleet, and growth. */
const HEADROOM = 1.3;

/** The demands of the workload without refusals, the tightest quota first. */
export function demandsOf(
  workload: SimulatedWorkload,
  run: Run,
  quotas: Quotas,
  times: ServiceTimes,
): readonly Demand[] {
  const asked = askedOf(workload, run, times);
  return (Object.keys(asked) as (keyof typeof asked)[])
    .map((quota): Demand => {
      const { label, raisedBy, how } = QUOTA_KINDS[quota];
      const allowed = quotas[quota];
      return { quota, label, raisedBy, how, asked: asked[quota], allowed, ratio: asked[quota] / allowed };
    })
    .sort((a, b) => b.ratio - a.ratio);
}

/** The quotas, with those raised that limit the workload and can be raised. */
export function raised(quotas: Quotas, demands: readonly Demand[]): Quotas {
  const byName = new Map(demands.map((demand) => [demand.quota, demand]));
  const lifted = quotasFrom((name) => {
    const demand = byName.get(name);
    if (demand === undefined || demand.raisedBy === 'fixed') return quotas[name];
    return Math.max(quotas[name], roundUp(demand.asked * HEADROOM));
  });
  // Workers use their budget of the account's requests, and frames use the rest.
  const isBudgetLifted = lifted.maxPostsPerSecond > quotas.maxPostsPerSecond;
  const together = roundUp(lifted.maxPostsPerSecond + lifted.stageFramesPerSecond);
  const requestsPerSecond = Math.max(lifted.requestsPerSecond, isBudgetLifted ? together : 0);
  // The burst comes with the rate, and is half of it.
  const requestsBurst = Math.max(quotas.requestsBurst, requestsPerSecond / 2);
  return { ...lifted, requestsPerSecond, requestsBurst };
}

/**
 * The rate of workers' posts with which a single event is finished in its time. Workers have to start before they post.
 */
export function postsPerSecondOf(workload: SimulatedWorkload, times: ServiceTimes): number {
  const { messagesOnce, recipients, deliverWithinSeconds } = workload;
  const seconds = deliverWithinSeconds - secondsUntilAllWork(times);
  return (messagesOnce * recipients) / Math.max(seconds, deliverWithinSeconds / 2);
}

/** To two digits, as in a request for a higher quota. */
function roundUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
  return Math.ceil(value / unit) * unit;
}

function askedOf(workload: SimulatedWorkload, run: Run, times: ServiceTimes) {
  const { parts, peaks, tally, seconds } = run;
  const isOnce = workload.messagesOnce > 0;
  // A steady rate is its mean: throttles let bursts through. A single event counts by its busiest second.
  const rate = (mean: number, peak: number) => (isOnce ? peak : mean / seconds) * parts;
  // A single event is finished within the minute, or is counted as if it were.
  const inMinute = (count: number) => (isOnce ? count : (count / seconds) * 60) * parts;
  const isWide = workload.recipients > INLINE_RECIPIENTS;
  const wideShare = isWide ? (workload.recipients - INLINE_RECIPIENTS) / workload.recipients : 0;
  const handshakes = tally.connects;
  const groupCalls = isWide ? rate(tally.published, workload.messagesOnce) / workload.topics : 0;
  return {
    requestsPerSecond: rate(tally.framesIn + tally.posts + handshakes, peaks.requests),
    newConnectionsPerSecond: rate(tally.connects, peaks.newConnections),
    stageFramesPerSecond: rate(tally.framesIn + handshakes, peaks.frames),
    maxPostsPerSecond: isOnce
      ? postsPerSecondOf(workload, times) * wideShare
      : (tally.posts * wideShare * parts) / seconds,
    // A tenant has a share of the messages at which the breaker trips.
    messagesPerMinuteMax: inMinute(tally.framesIn + tally.replies + tally.posts) / TENANT_SHARE,
    identityFramesPerSecondMax: rate(tally.framesIn, 0) / workload.publishers,
    identityPublishesPerSecondMax: rate(tally.published, 0) / workload.publishers,
    identityDeliveriesPerMinuteMax: inMinute(tally.published * workload.recipients) / workload.publishers,
    lambdaConcurrency: Math.max(
      (run.executionsMax + run.workersMax) * parts,
      // Its quota is one of requests as well, however short they are.
      rate(tally.invocations, 0) / REQUESTS_PER_ENVIRONMENT_SECOND,
    ),
    fifoMessagesPerSecond: rate(tally.fifoJobs, isWide ? shardsOf(workload.recipients) : 0),
    fifoCallsPerGroupSecond: groupCalls,
    tableReadsPerSecond: rate(tally.readUnits, peaks.tableReads),
    tableWritesPerSecond: rate(tally.writeUnits, peaks.tableWrites),
    partitionReadsPerSecond: Math.max(peaks.shapesPartition, peaks.topicPartition) * parts,
  } as const satisfies Partial<Record<QuotaName, number>>;
}
