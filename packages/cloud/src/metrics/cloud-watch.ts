import {
  type CloudWatchClient,
  GetMetricDataCommand,
  type MetricDataResult,
} from '@aws-sdk/client-cloudwatch';
import { METRICS_SERVICE, type MetricName } from './metric-names.ts';

/** Pages of one answer: the data points of a few metrics in a month fill one. */
const PAGES_MAX = 10;

/** A time, from its beginning up to its end. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A metric, added up or averaged in each period. */
export interface MetricQuery {
  readonly name: MetricName;
  readonly statistic: 'Sum' | 'Average';
  /** A whole number of minutes. */
  readonly periodSeconds: number;
}

/** The value of a period. */
export interface MetricPoint {
  readonly atMs: number;
  readonly value: number;
}

/** The metrics that the functions of one deployment write, as CloudWatch has them. */
export class CloudWatchMetrics {
  readonly #client: Pick<CloudWatchClient, 'send'>;
  readonly #namespace: string;

  constructor(client: Pick<CloudWatchClient, 'send'>, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /**
   * The points of each query in their order, one list for each. Each query is billed as a metric.
   *
   * @throws {Error} where CloudWatch does not answer, or has more than it should
   */
  async points(queries: readonly MetricQuery[], range: Range): Promise<readonly (readonly MetricPoint[])[]> {
    const found = new Map<string, MetricPoint[]>();
    let token: string | undefined;
    for (let pages = 0; pages < PAGES_MAX; pages += 1) {
      const { MetricDataResults = [], NextToken } = await this.#client.send(
        new GetMetricDataCommand({
          MetricDataQueries: queries.map((query, index) => this.#queryOf(query, index)),
          StartTime: new Date(range.fromMs),
          EndTime: new Date(range.toMs),
          ScanBy: 'TimestampAscending',
          ...(token !== undefined && { NextToken: token }),
        }),
      );
      for (const result of MetricDataResults)
        found.set(result.Id ?? '', [...(found.get(result.Id ?? '') ?? []), ...pointsOf(result)]);
      token = NextToken;
      if (token === undefined) return queries.map((_, index) => found.get(idOf(index)) ?? []);
    }
    throw new Error(`CloudWatch has more than ${PAGES_MAX} pages for a few metrics.`);
  }

  #queryOf({ name, statistic, periodSeconds }: MetricQuery, index: number) {
    return {
      Id: idOf(index),
      MetricStat: {
        Metric: {
          Namespace: this.#namespace,
          MetricName: name,
          Dimensions: [{ Name: 'service', Value: METRICS_SERVICE }],
        },
        Period: periodSeconds,
        Stat: statistic,
      },
    };
  }
}

/** CloudWatch wants a small letter first. */
function idOf(index: number): string {
  return `m${index}`;
}

function pointsOf({ Timestamps = [], Values = [] }: MetricDataResult): readonly MetricPoint[] {
  return Timestamps.map((at, index) => ({ atMs: at.getTime(), value: Values[index] ?? 0 }));
}
