import type { Qos } from '../../engine/types.ts';
import {
  CONNECTIONS_MAX,
  DURATION_SECONDS_MAX,
  PAYLOAD_BYTES_MAX,
  PAYLOAD_BYTES_MIN,
  RATE_PER_SECOND_MAX,
} from './limits.ts';

/** The recipients of the messages. */
export type FanOut =
  /** Every subscriber gets every message. */
  | 'all'
  /** Subscriber n gets the messages of publisher n. */
  | 'pairs'
  /** Each message goes to one subscriber, by a shared subscription. */
  | 'shared';

export interface BenchPlan {
  readonly publishers: number;
  readonly subscribers: number;
  readonly fanOut: FanOut;
  /** Messages published each second, all publishers together. */
  readonly ratePerSecond: number;
  readonly payloadBytes: number;
  readonly qos: Qos;
  readonly durationSeconds: number;
}

export const DEFAULT_PLAN: BenchPlan = {
  publishers: 2,
  subscribers: 2,
  fanOut: 'all',
  ratePerSecond: 200,
  payloadBytes: 128,
  qos: 1,
  durationSeconds: 15,
};

/** The range of each number of a plan. */
export const PLAN_RANGES = {
  publishers: { min: 1, max: CONNECTIONS_MAX },
  subscribers: { min: 0, max: CONNECTIONS_MAX },
  ratePerSecond: { min: 1, max: RATE_PER_SECOND_MAX },
  payloadBytes: { min: PAYLOAD_BYTES_MIN, max: PAYLOAD_BYTES_MAX },
  durationSeconds: { min: 1, max: DURATION_SECONDS_MAX },
} as const satisfies Partial<Record<keyof BenchPlan, { readonly min: number; readonly max: number }>>;

export type PlanNumber = keyof typeof PLAN_RANGES;

/** The problems of a plan: numbers out of their range, or too many connections. */
export function problemsOf(plan: BenchPlan): (PlanNumber | 'connections')[] {
  const wrong: (PlanNumber | 'connections')[] = (Object.keys(PLAN_RANGES) as PlanNumber[]).filter((name) => {
    const { min, max } = PLAN_RANGES[name];
    return !Number.isInteger(plan[name]) || plan[name] < min || plan[name] > max;
  });
  if (plan.publishers + plan.subscribers > CONNECTIONS_MAX) wrong.push('connections');
  return wrong;
}

/** The topic of each publisher. Each run has its own topics, so that two runs do not get each other's messages. */
export function topicOf(run: string, publisher: number): string {
  return `bench/${run}/${publisher}`;
}

export function filterOf(run: string, subscriber: number, { fanOut, publishers }: BenchPlan): string {
  if (fanOut === 'pairs') return topicOf(run, subscriber % publishers);
  return fanOut === 'shared' ? `$share/bench-${run}/bench/${run}/+` : `bench/${run}/+`;
}

/** How many subscribers have to receive a message of that publisher. */
export function copiesOf(publisher: number, { fanOut, publishers, subscribers }: BenchPlan): number {
  if (fanOut === 'all') return subscribers;
  if (fanOut === 'shared') return Math.min(1, subscribers);
  const rounds = Math.floor(subscribers / publishers);
  return rounds + (publisher < subscribers % publishers ? 1 : 0);
}
