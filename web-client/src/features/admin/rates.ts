import type { Figures } from './admin-api.ts';
import { PROCESSES } from './sum-figures.ts';

/** Figures at a moment by the page's clock. */
export interface Sample {
  readonly atMs: number;
  readonly metrics: Figures;
}

/** Two samples right after one another would say that nothing comes. */
const BETWEEN_MS_MIN = 500;

/**
 * The growth of a counter each second between two samples; undefined if the broker, or one of its processes, has
 * restarted meanwhile.
 */
export function rateOf(earlier: Sample | undefined, later: Sample, name: string): number | undefined {
  if (earlier === undefined || later.atMs - earlier.atMs < BETWEEN_MS_MIN) return undefined;
  if (earlier.metrics[PROCESSES] !== later.metrics[PROCESSES]) return undefined;
  const grown = (later.metrics[name] ?? 0) - (earlier.metrics[name] ?? 0);
  return grown < 0 ? undefined : (grown * 1_000) / (later.atMs - earlier.atMs);
}

/** How far back the graph goes, with a sample every two seconds. */
export const GRAPH_MINUTES = 15;

const POINTS_MAX = (GRAPH_MINUTES * 60) / 2;

/** Messages a second at a moment, in milliseconds since 1970. */
export interface RatePoint {
  readonly atMs: number;
  readonly received: number;
  readonly sent: number;
  readonly dropped: number;
}

/** The points with another one, if two samples give one. */
export function withPoint(
  points: readonly RatePoint[],
  earlier: Sample | undefined,
  later: Sample,
  atMs: number,
): readonly RatePoint[] {
  const received = rateOf(earlier, later, 'messages.received');
  const sent = rateOf(earlier, later, 'messages.sent');
  if (received === undefined || sent === undefined) return points;
  const dropped = rateOf(earlier, later, 'delivery.dropped') ?? 0;
  return [...points, { atMs, received, sent, dropped }].slice(-POINTS_MAX);
}

/** The least width of the graph: a single point would otherwise have a whole day beside it. */
const SPAN_SECONDS_MIN = 60;

/** The range of the time axis, in seconds since 1970, like the times of the points. */
export function timeSpan(times: ArrayLike<number>): [number | null, number | null] {
  const [first, last] = [times[0], times[times.length - 1]];
  return first === undefined || last === undefined
    ? [null, null]
    : [Math.min(first, last - SPAN_SECONDS_MIN), last];
}
