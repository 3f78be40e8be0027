/** A range of time, in milliseconds since 1970. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What the chart shows: the last seconds, or those before it was held, or what was drawn over in them. */
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
