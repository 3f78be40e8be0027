/** A range of time, in milliseconds since 1970. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The time range of the chart: the last seconds, or the seconds before it was paused. */
export function shownRange(windowSeconds: number, heldAtMs: number | undefined, nowMs: number): TimeRange {
  const toMs = heldAtMs ?? nowMs;
  return { fromMs: toMs - windowSeconds * 1_000, toMs };
}
