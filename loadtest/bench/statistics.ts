/** A figure measured several times. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly count: number;
}

/** Undefined without measurements. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const [least] = sorted;
  const most = sorted.at(-1);
  if (least === undefined || most === undefined) return undefined;
  return { median: medianOf(sorted), least, most, count: sorted.length };
}

function medianOf(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
