import type { MetricName } from './metric-names.ts';

/** Counts what becomes a metric. */
export interface Meter {
  /** @param count @default 1 */
  add(name: MetricName, count?: number): void;
}

/** For an environment whose counts are not read. */
export const NO_METER: Meter = { add: () => {} };
