import type { Series } from './series.ts';

/** One chart of several: it shows some of the series, with its own axes. */
export interface Panel {
  readonly chart: number;
  /** All series, so that each keeps its colour; those of other charts are hidden. */
  readonly series: readonly Series[];
  /** How many it shows. */
  readonly shown: number;
}

/** The charts in their order; one at least. */
export function panelsOf(series: readonly Series[]): readonly Panel[] {
  const charts = [...new Set(series.map(({ chart }) => chart))].sort((a, b) => a - b);
  return charts.map((chart) => {
    const own = series.map((one) => (one.chart === chart ? one : { ...one, isHidden: true }));
    return { chart, series: own, shown: own.filter(({ isHidden }) => !isHidden).length };
  });
}

/** A chart for each series, or one for all. */
export function arranged(series: readonly Series[], isSplit: boolean): readonly Series[] {
  return series.map((one, index) => ({ ...one, chart: isSplit ? index : 0 }));
}

/** The number of a new chart. */
export function nextChart(series: readonly Series[]): number {
  return series.reduce((most, { chart }) => Math.max(most, chart), -1) + 1;
}
