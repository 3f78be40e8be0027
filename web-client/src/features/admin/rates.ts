import type { Figures } from './admin-api.ts';

/** Figures at a moment, as the page's clock has it. */
export interface Sample {
  readonly atMs: number;
  readonly metrics: Figures;
}

/** What a counter grew by each second between two looks; undefined where the broker has begun anew meanwhile. */
export function rateOf(earlier: Sample | undefined, later: Sample, name: string): number | undefined {
  if (earlier === undefined || later.atMs <= earlier.atMs) return undefined;
  const grown = (later.metrics[name] ?? 0) - (earlier.metrics[name] ?? 0);
  return grown < 0 ? undefined : (grown * 1_000) / (later.atMs - earlier.atMs);
}
