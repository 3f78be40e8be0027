import { ApiProblem, type BreakerLine, timeOf } from '@apus/api';
import { type Clock, reasonOf, steadyNow } from '@apus/broker';
import type { MetricPoint } from '../metrics/cloud-watch.ts';
import type { GatewayMessages } from '../metrics/gateway-messages.ts';
import type { Stage } from './stage.ts';

const MINUTE_MS = 60_000;

/** API Gateway takes some ten calls a second about all stages of an account, so an answer is kept for a while. */
const STAGE_KEPT_MS = 10_000;

/** The breaker of a deployment, as the construct has made it. */
export interface BreakerSettings {
  readonly apiId: string;
  readonly stageName: string;
  /** Frames a second of all clients, while the breaker is closed and while it is tripped. */
  readonly framesPerSecond: number;
  readonly trippedFramesPerSecond: number;
  readonly messagesPerMinuteMax: number;
  /** 0: the breaker closes only by hand. */
  readonly resetMinutes: number;
}

/** The breaker, and the sources of its state. */
export interface ApiBreaker {
  readonly settings: BreakerSettings;
  readonly readStage: () => Promise<Stage>;
  readonly messages: Pick<GatewayMessages, 'lastMinute'>;
}

/** The state of the breaker is the throttle of the stage, and is stored nowhere else [SEC-QUOTA-7]. */
export function breakerReader(breaker: ApiBreaker | undefined, clock: Clock): () => Promise<BreakerLine> {
  if (breaker === undefined)
    return async () => {
      throw new ApiProblem('NOT_FOUND', 'This deployment has no breaker (breaker: false).');
    };
  const { settings, messages } = breaker;
  const look = lookingAt(breaker, clock);
  return async () => {
    const [stage, minute] = await Promise.all([look(), messages.lastMinute()]);
    return lineOf(settings, stage, minute);
  };
}

/** Keeps the answer of API Gateway for a while, also a failure. */
function lookingAt({ readStage }: ApiBreaker, clock: Clock): () => Promise<Stage> {
  let kept: { readonly stage: Promise<Stage>; readonly untilMs: number } | undefined;
  return async () => {
    const nowMs = steadyNow(clock);
    if (kept === undefined || kept.untilMs <= nowMs)
      kept = { stage: readStage(), untilMs: nowMs + STAGE_KEPT_MS };
    return await kept.stage.catch((error: unknown) => {
      const why = reasonOf(error);
      throw new ApiProblem('SERVICE_UNAVAILABLE', `The state of the breaker is unknown: ${why}`);
    });
  };
}

function lineOf(settings: BreakerSettings, stage: Stage, minute: MetricPoint | undefined): BreakerLine {
  const { framesPerSecond, trippedFramesPerSecond, messagesPerMinuteMax, resetMinutes } = settings;
  const isTripped =
    stage.framesPerSecond === trippedFramesPerSecond && framesPerSecond !== trippedFramesPerSecond;
  const sinceMs = isTripped ? stage.updatedAtMs : undefined;
  const closesAtMs =
    sinceMs === undefined || resetMinutes === 0 ? undefined : sinceMs + resetMinutes * MINUTE_MS;
  return {
    state: isTripped ? 'tripped' : 'closed',
    since: timeOf(sinceMs),
    closes_at: timeOf(closesAtMs),
    frames_per_second_max: stage.framesPerSecond ?? framesPerSecond,
    messages_per_minute_max: messagesPerMinuteMax,
    messages_last_minute: minute?.value ?? null,
    last_minute_at: timeOf(minute?.atMs),
  };
}
