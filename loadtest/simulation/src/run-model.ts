import type { BacklogTrend } from './backlog.ts';
import { type FanOutSizes, FanOutWorkers } from './fan-out-workers.ts';
import { Frames } from './frames.ts';
import { Model } from './model.ts';
import { INLINE_RECIPIENTS, Publishing } from './publishing.ts';
import { type Quotas, shareOf } from './quotas.ts';
import type { ServiceTimes } from './service-times.ts';
import { repeat, startStandingLoad } from './standing-load.ts';
import type { Tally } from './tally.ts';
import type { SimulatedWorkload } from './workload.ts';

/** Messages that one run follows one by one. If there are more, one part is simulated, with that part of the quotas. */
const MESSAGES_MAX = 400_000;

/** Posts of wide filters cannot be simulated in parts: one worker serves a shard. */
const WIDE_POSTS_MAX = 20_000_000;

/** A message to all subscribers may take this long; then the run is over. */
const ONCE_SECONDS_MAX = 7_200;

export interface RunOptions {
  readonly quotas: Quotas;
  readonly times: ServiceTimes;
  /**
   * Idle environments at the start.
   * @default 0
   */
  readonly warm?: number;
  /**
   * Whether connections are renewed and send heartbeats.
   * @default true
   */
  readonly hasStandingLoad?: boolean;
  /** Messages that are followed one by one; of more, one part in this many. @default 400,000 */
  readonly messagesMax?: number;
  /**
   * The publishers, from 0 up to `publishers`, and the times of their messages. @default at random, at the workload's
   * rate
   */
  readonly arrivals?: readonly Arrival[];
  /** @default those of a deployment */
  readonly fanOut?: FanOutSizes;
}

export interface Arrival {
  readonly atMs: number;
  readonly publisher: number;
}

/** The result of one run. Multiply its counts by `parts`. */
export interface Run {
  readonly tally: Tally;
  readonly parts: number;
  /** Simulated time that was measured. */
  readonly seconds: number;
  /** The growth of the backlog under a rate; undefined for a single event. */
  readonly backlog: BacklogTrend | undefined;
  /** Messages in a minute as the breaker counts them: frames, replies and posts. */
  readonly messagesPerMinute: number;
  /** They are more than the breaker lets pass: it stops everything within two minutes, and closes after twenty to thirty. */
  readonly tripsBreaker: boolean;
  readonly events: number;
  /** The most executions at a time: of frames, and of workers. */
  readonly executionsMax: number;
  readonly environments: number;
  readonly workersMax: number;
  /** The highest demand on each throttle within one second. */
  readonly peaks: {
    readonly requests: number;
    readonly frames: number;
    readonly newConnections: number;
    readonly fifoMessages: number;
    readonly tableReads: number;
    readonly tableWrites: number;
    readonly shapesPartition: number;
    readonly topicPartition: number;
  };
}

/** The error for a workload that would take too long. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

export function runModel(workload: SimulatedWorkload, options: RunOptions): Run {
  const parts = partsOf(workload, options.messagesMax);
  const part = {
    ...workload,
    connections: workload.connections / parts,
    publishers: Math.max(1, Math.round(workload.publishers / parts)),
    messagesPerSecond: workload.messagesPerSecond / parts,
  };
  const model = new Model(part, shareOf(options.quotas, parts), options.times, (options.warm ?? 0) / parts);
  const frames = new Frames(model);
  const publishing = new Publishing(model, frames, new FanOutWorkers(model, options.fanOut));
  if (options.hasStandingLoad !== false) startStandingLoad(model, frames);
  const { seconds, backlog } = runWorkload(model, publishing, options.arrivals);
  const perMinute = parts * messagesPerMinute(model.tally, seconds, backlog !== undefined);
  const tripsBreaker = perMinute > options.quotas.messagesPerMinuteMax;
  return { ...resultOf(model), parts, seconds, backlog, messagesPerMinute: perMinute, tripsBreaker };
}

/** A steady rate goes on for a minute; a single event may be over sooner. */
function messagesPerMinute({ framesIn, replies, posts }: Tally, seconds: number, isRate: boolean): number {
  const minutes = seconds / 60;
  return (framesIn + replies + posts) / (isRate ? minutes : Math.max(1, minutes));
}

/** The number of parts of the traffic, of which one is simulated. */
export function partsOf(
  { messagesPerSecond, seconds, warmUpSeconds, recipients }: SimulatedWorkload,
  messagesMax = MESSAGES_MAX,
): number {
  const messages = messagesPerSecond * (seconds + warmUpSeconds);
  if (recipients <= INLINE_RECIPIENTS) return Math.max(1, Math.ceil(messages / messagesMax));
  if (messages * recipients <= WIDE_POSTS_MAX) return 1;
  throw new TooLargeError(
    `${Math.round(messages * recipients).toLocaleString('en')} deliveries of wide filters are more than ` +
      `${WIDE_POSTS_MAX.toLocaleString('en')}: simulate fewer seconds.`,
  );
}

type Ran = Pick<Run, 'seconds' | 'backlog'>;

function runWorkload(model: Model, publishing: Publishing, arrivals: RunOptions['arrivals']): Ran {
  if (arrivals === undefined) {
    if (model.workload.messagesOnce === 0) return runRate(model, publishing);
    return { seconds: runOnce(model, publishing), backlog: undefined };
  }
  for (const { atMs, publisher } of arrivals) model.loop.after(atMs, () => publishing.publish(publisher));
  model.loop.run();
  return { seconds: model.loop.nowMs / 1_000, backlog: undefined };
}

function runRate(model: Model, publishing: Publishing): Ran {
  const { messagesPerSecond, publishers, seconds, warmUpSeconds } = model.workload;
  repeat(model, messagesPerSecond, () => publishing.publish(Math.floor(model.random.next() * publishers)));
  const waitingAt = (second: number) => {
    model.loop.run(second * 1_000);
    return model.backlog.messages;
  };
  const begin = waitingAt(warmUpSeconds);
  const half = waitingAt(warmUpSeconds + seconds / 2);
  const end = waitingAt(warmUpSeconds + seconds);
  return { seconds, backlog: { begin, half, end } };
}

/** Ends when all subscribers have the message, or no more will get it. */
function runOnce(model: Model, publishing: Publishing): number {
  const { messagesOnce, publishers, recipients, warmUpSeconds } = model.workload;
  const { tally, loop } = model;
  const publishedAtMs = warmUpSeconds * 1_000;
  loop.after(publishedAtMs, () => {
    for (let index = 0; index < messagesOnce; index += 1) publishing.publish(index % publishers);
  });
  const expected = messagesOnce * recipients;
  for (let second = 1; second <= ONCE_SECONDS_MAX; second += 1) {
    loop.run(publishedAtMs + second * 1_000);
    if (tally.delivered + tally.deliveriesLost >= expected) return second;
  }
  return ONCE_SECONDS_MAX;
}

function resultOf({
  account,
  tally,
  loop,
}: Model): Omit<Run, 'parts' | 'messagesPerMinute' | 'tripsBreaker' | keyof Ran> {
  return {
    tally,
    events: loop.events,
    executionsMax: account.functions.runningMax,
    environments: account.functions.environments,
    workersMax: account.workers.runningMax,
    peaks: {
      requests: account.requests.peakPerSecond,
      frames: account.stageFrames.peakPerSecond,
      newConnections: account.newConnections.peakPerSecond,
      fifoMessages: account.fifoMessages.peakPerSecond,
      tableReads: account.tableReads.peakPerSecond,
      tableWrites: account.tableWrites.peakPerSecond,
      shapesPartition: account.partition('shapes').peakPerSecond,
      topicPartition: account.partition('topic').peakPerSecond,
    },
  };
}
