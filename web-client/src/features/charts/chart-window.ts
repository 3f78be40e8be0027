/** A range of time, in milliseconds since 1970. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The time range of the chart: the last seconds, the seconds before it was paused, or the zoomed range. */
export function shownRange(
  windowSeconds: number,
  heldAtMs: number | undefined,
  zoomed: TimeRange | undefined,
  nowMs: number,
): TimeRange {
  if (zoomed !== undefined) return zoomed;
  const toMs = heldAtMs ?? nowMs;
  return { fromMs: toMs - windowSeconds * 1_000, toMs };
}
