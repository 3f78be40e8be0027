import type { Clock } from '@apus/broker';
import type { CloudWatchMetrics, MetricPoint, MetricQuery, Range } from './cloud-watch.ts';
import { METRICS, type MetricName } from './metric-names.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * A minute is read when it is this old. CloudWatch takes metrics out of logs within some minutes. A minute that was
 * read earlier could still grow, and Prometheus would take the difference for a restart of the counter.
 */
const COMPLETE_AFTER_MS = 5 * MINUTE_MS;

/** The time in which the last sweep is looked for: sweeps count connections every ten minutes. */
const CONNECTIONS_MS = 20 * MINUTE_MS;

/** The counters of the functions since the month began, and the connections that the last sweep has seen. */
export interface MonthFigures {
  readonly since: Range;
  readonly counts: ReadonlyMap<MetricName, number>;
  /** Undefined: no recent sweep has counted them. */
  readonly connections: number | undefined;
}

interface Kept {
  readonly range: Range;
  readonly sums: readonly number[];
}

/**
 * Counters made of the metrics of CloudWatch, which has a value for each minute or hour. They begin with the month
 * (UTC), as the counters of a process begin with its start. All environments give the same answer in the same minute:
 * each adds up whole hours, which it remembers, and the minutes after them, which it reads once a minute.
 */
export class MonthCounters {
  readonly #metrics: CloudWatchMetrics;
  readonly #clock: Clock;
  readonly #names: readonly MetricName[];
  #hours: Kept | undefined;
  #figures: MonthFigures | undefined;

  /** @param names of metrics that are added up */
  constructor(metrics: CloudWatchMetrics, clock: Clock, names: readonly MetricName[]) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#names = names;
  }

  /** @throws {Error} where CloudWatch does not answer */
  async figures(): Promise<MonthFigures> {
    const toMs = floor(this.#clock.now() - COMPLETE_AFTER_MS, MINUTE_MS);
    if (this.#figures?.since.toMs === toMs) return this.#figures;
    const since = { fromMs: monthOf(toMs - 1), toMs };
    // An hour that has just ended may still grow.
    const hoursEndMs = Math.max(since.fromMs, floor(toMs, HOUR_MS) - HOUR_MS);
    const hours = await this.#hoursOf({ fromMs: since.fromMs, toMs: hoursEndMs });
    const fromMs = Math.min(hoursEndMs, toMs - CONNECTIONS_MS);
    const sums = this.#names.map((name) => queryOf(name, MINUTE_MS));
    const average = { name: METRICS.connections, statistic: 'Average', periodSeconds: 60 } as const;
    const points = await this.#metrics.points([...sums, average], { fromMs, toMs });
    const counts = this.#names.map((name, index) => {
      const own = (points[index] ?? []).filter(({ atMs }) => atMs >= hoursEndMs);
      return [name, (hours[index] ?? 0) + sumOf(own)] as const;
    });
    this.#figures = {
      since,
      counts: new Map(counts),
      connections: points[this.#names.length]?.at(-1)?.value,
    };
    return this.#figures;
  }

  async #hoursOf(range: Range): Promise<readonly number[]> {
    if (range.fromMs === range.toMs) return [];
    const kept = this.#hours;
    if (kept?.range.fromMs === range.fromMs && kept.range.toMs === range.toMs) return kept.sums;
    const queries = this.#names.map((name) => queryOf(name, HOUR_MS));
    const sums = (await this.#metrics.points(queries, range)).map(sumOf);
    this.#hours = { range, sums };
    return sums;
  }
}

function queryOf(name: MetricName, periodMs: number): MetricQuery {
  return { name, statistic: 'Sum', periodSeconds: periodMs / 1000 };
}

function sumOf(points: readonly MetricPoint[]): number {
  return points.reduce((sum, { value }) => sum + value, 0);
}

function floor(ms: number, unitMs: number): number {
  return ms - (ms % unitMs);
}

function monthOf(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}
