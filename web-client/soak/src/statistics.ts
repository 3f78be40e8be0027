/** @param part 0 to 1 */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** `Math.max(…)` of a million numbers overflows the stack. */
export function highest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

export function countOver(values: readonly number[], limit: number): number {
  return values.filter((value) => value > limit).length;
}
