import { rulesAuthorizer } from '@apus/broker';
import { startCloudInProcess } from '../cloud/start-cloud-in-process.ts';
import { AUTHENTICATOR } from './cast.ts';
import { seededRandom } from './draws.ts';
import type { FaultPlan } from './fault-plan.ts';
import type { OutsideWorld } from './outside-world.ts';
import { DEFAULT_SIZE, type History, type HistoryOptions, play } from './play.ts';
import { hasRoom, isAged } from './size.ts';
import type { Patience, StageWorld } from './stage.ts';
import { STREAMS } from './stream-readers.ts';
import type { Trace } from './trace.ts';
import { traceFrame } from './trace-world.ts';
import { VirtualTime } from './virtual-time.ts';

export { DEFAULT_SIZE, type History, type HistoryOptions } from './play.ts';

const INLINE_SUBSCRIBERS_MAX = 2;

/** A low limit, so that records drop old entries: they keep two names at most. */
const COMPLETED = { bytesMax: 50, bytesKept: 25 };
/** A killed worker's batch is delivered again after this time. */
const WORKER_SECONDS = 12;
/**
 * Workers are killed so often that now and then five in a row die on one job (seed 610240); a deployment would give
 * such a job up as poisonous. Here it takes twenty-five in a row.
 */
const WORKER_ATTEMPTS_MAX = 25;

/**
 * While faults strike, clients are told that the gateway cuts connections at this age, so they move early. Later, and
 * in a history of two hours, they are told the real age.
 */
const CONNECTION_SECONDS = 1;
const CONNECTION_SECONDS_MAX = 7_200;

/** Ends that no process notices wait for the sweep. */
const PATIENCE: Patience = {
  quietMsMax: 60 * 60_000,
  aftermathMs: 60_000,
  lookEveryMs: 5_000,
  repairedWithinMs: 11 * 60_000,
};

/** One history in virtual time: the same options give the same history. */
export async function runHistory(options: HistoryOptions): Promise<History> {
  const time = new VirtualTime(options.seed);
  options.install?.();
  try {
    const open = async (plan: FaultPlan, trace: Trace, outside: OutsideWorld | undefined) =>
      await startWorld(plan, trace, outside, options);
    return await play({ time, patience: PATIENCE, open }, options);
  } finally {
    time.restore();
  }
}

/** Call it before the first history of a process: it loads modules that would otherwise load in the middle of one. */
export async function warmUp(): Promise<void> {
  await runHistory({ seed: 0, size: { ...DEFAULT_SIZE, durationMs: 2_000, ages: false } });
}

async function startWorld(
  plan: FaultPlan,
  trace: Trace,
  outside: OutsideWorld | undefined,
  {
    seed,
    size = DEFAULT_SIZE,
    alterations,
    usage = false,
    watched,
    store,
    inlineSubscribersMax = INLINE_SUBSCRIBERS_MAX,
  }: HistoryOptions,
): Promise<StageWorld> {
  const world = await startCloudInProcess({
    seed,
    usage,
    faults: plan.gateway,
    dynamoFaults: { ...plan.store, ...store },
    inlineSubscribersMax,
    completed: COMPLETED,
    connectionSeconds: () =>
      plan.isOver || isAged(seed, size) ? CONNECTION_SECONDS_MAX : CONNECTION_SECONDS,
    streams: STREAMS,
    presence: hasRoom(seed, size),
    ...(outside !== undefined && { outside }),
    workerSeconds: WORKER_SECONDS,
    workerLimits: { attemptsMax: WORKER_ATTEMPTS_MAX },
    random: seededRandom(seed),
    authenticator: AUTHENTICATOR,
    authorizer: rulesAuthorizer,
    ...(alterations !== undefined && { alterations }),
    onFrame: (environmentId, bytes) => traceFrame(trace, environmentId, bytes),
  });
  watched?.(world);
  return world;
}
