import type { Series } from './series.ts';

/**
 * The charts in their order, each with all series: one that belongs to another chart is hidden there, and so keeps its
 * colour.
 */
export function panelsOf(series: readonly Series[], isSplit: boolean): readonly (readonly Series[])[] {
  if (!isSplit) return [series];
  return series.map((own) => series.map((one) => (one === own ? one : { ...one, isHidden: true })));
}
