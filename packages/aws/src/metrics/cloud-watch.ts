import {
  type CloudWatchClient,
  GetMetricDataCommand,
  type MetricDataResult,
} from '@aws-sdk/client-cloudwatch';
import { METRICS_SERVICE, type MetricName } from './metric-names.ts';

/** Pages of one answer: the data points of a few metrics in a month fill one. */
const PAGES_MAX = 10;

/** All points of a metric have been given; `PartialData` promises more with the next page. */
const COMPLETE = 'Complete';

/** A time, from its beginning up to its end. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The metric of a stage of API Gateway that counts its messages. */
export const GATEWAY_MESSAGES = 'MessageCount';

/** A metric, added up or averaged in each period. */
export interface MetricQuery {
  readonly name: MetricName | typeof GATEWAY_MESSAGES;
  readonly statistic: 'Sum' | 'Average';
  /** A whole number of minutes. */
  readonly periodSeconds: number;
}

/** The value of a period. */
export interface MetricPoint {
  readonly atMs: number;
  readonly value: number;
}

/** The metrics of one namespace with the same dimensions, as CloudWatch has them. */
export class CloudWatchMetrics {
  readonly #client: Pick<CloudWatchClient, 'send'>;
  readonly #namespace: string;
  readonly #dimensions: readonly { readonly Name: string; readonly Value: string }[];

  /** @param dimensions by their names. @default those of the metrics that the functions of a deployment write */
  constructor(
    client: Pick<CloudWatchClient, 'send'>,
    namespace: string,
    dimensions: Readonly<Record<string, string>> = { service: METRICS_SERVICE },
  ) {
    this.#client = client;
    this.#namespace = namespace;
    this.#dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
  }

  /**
   * The points of each query in their order, one list for each. Each query is billed as a metric.
   *
   * @throws {Error} where CloudWatch does not answer, has more than it should, or says that it has not given all
   */
  async points(queries: readonly MetricQuery[], range: Range): Promise<readonly (readonly MetricPoint[])[]> {
    const found = new Map<string, MetricPoint[]>();
    const statuses = new Map<string, string>();
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
      for (const result of MetricDataResults) {
        const { Id: id = '', StatusCode = COMPLETE } = result;
        found.set(id, [...(found.get(id) ?? []), ...pointsOf(result)]);
        statuses.set(id, StatusCode);
      }
      token = NextToken;
      if (token !== undefined) continue;
      // A sum of a part of the points would be a counter that falls.
      const failed = [...statuses.values()].find((status) => status !== COMPLETE);
      if (failed !== undefined) throw new Error(`CloudWatch has not given all points: ${failed}`);
      return queries.map((_, index) => found.get(idOf(index)) ?? []);
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
          Dimensions: [...this.#dimensions],
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
