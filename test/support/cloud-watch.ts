import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';

/** Limits in the reference of GetMetricData (docs.aws.amazon.com, AmazonCloudWatch/latest/APIReference). */
const QUERIES_MAX = 500;
const ID = /^[a-z][a-zA-Z0-9_]*$/;
const TARGET = 'GraniteServiceVersion20100801.GetMetricData';
const DAY_MS = 86_400_000;
/** CloudWatch keeps data points of one minute for 15 days, and of five minutes for 63. */
const MINUTES_KEPT_MS = 15 * DAY_MS;
const FIVE_MINUTES_KEPT_MS = 63 * DAY_MS;
/** The most points of an answer that a request may ask for. */
const POINTS_MAX = 100_800;

interface Query {
  readonly Id: string;
  readonly MetricStat: {
    readonly Metric: {
      readonly Namespace: string;
      readonly MetricName: string;
      readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[];
    };
    readonly Period: number;
    readonly Stat: string;
  };
}

interface Request {
  readonly MetricDataQueries: readonly Query[];
  /** Seconds since 1970, as those below. */
  readonly StartTime: number;
  readonly EndTime: number;
  readonly ScanBy?: 'TimestampAscending' | 'TimestampDescending';
  readonly NextToken?: string;
}

interface Result {
  readonly Id: string;
  readonly Label: string;
  readonly Timestamps: readonly number[];
  readonly Values: readonly number[];
  readonly StatusCode: Status;
}

export type Status = 'Complete' | 'PartialData' | 'InternalError' | 'Forbidden';

/** A metric, whose dimensions have to be named exactly, as AWS wants it. */
export interface PutPoint {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly atMs: number;
  readonly value: number;
}

/**
 * GetMetricData of CloudWatch over HTTP, with the documented limits and answers. It refuses a request that AWS would
 * refuse.
 */
export interface CloudWatchStandIn {
  /** The client of AWS's SDK, with this in place of AWS. */
  readonly client: CloudWatchClient;
  /** Requested metrics, which AWS bills. */
  readonly billed: () => number;
  put(point: PutPoint): void;
  /** Data points of a page of an answer. */
  pageLength: number;
  /** Reports for every metric that it could not be read completely. */
  status: Status | undefined;
  stop(): Promise<void>;
}

export async function startCloudWatch(now: () => number = Date.now): Promise<CloudWatchStandIn> {
  const points: PutPoint[] = [];
  let billed = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Request;
    const mistake = mistakeOfHeaders(request) ?? mistakeOf(asked, now());
    if (mistake !== undefined) {
      const body = { __type: 'com.amazonaws.cloudwatch#InvalidParameterValueException', message: mistake };
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
      return;
    }
    billed += asked.MetricDataQueries.length;
    const body = JSON.stringify(page(asked, points, standIn));
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new CloudWatchClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });
  const standIn: CloudWatchStandIn = {
    client,
    billed: () => billed,
    put: (point) => points.push(point),
    pageLength: POINTS_MAX,
    status: undefined,
    async stop() {
      client.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;
}

function mistakeOfHeaders({ method, headers }: IncomingMessage): string | undefined {
  if (method !== 'POST' || headers['x-amz-target'] !== TARGET)
    return `The target is ${TARGET}, not ${headers['x-amz-target']}.`;
  if (!/\/eu-west-1\/monitoring\/aws4_request/.test(headers.authorization ?? ''))
    return 'The request is not signed for monitoring.';
  return undefined;
}

function mistakeOf({ MetricDataQueries, StartTime, EndTime }: Request, nowMs: number): string | undefined {
  if (!(StartTime < EndTime)) return 'The parameter StartTime must be less than the parameter EndTime.';
  if (MetricDataQueries.length === 0 || MetricDataQueries.length > QUERIES_MAX)
    return `The collection MetricDataQueries must have 1 to ${QUERIES_MAX} members.`;
  const ids = new Set(MetricDataQueries.map(({ Id }) => Id));
  if (ids.size !== MetricDataQueries.length) return 'The values of Id must be unique.';
  for (const { Id, MetricStat } of MetricDataQueries) {
    if (!ID.test(Id)) return `The value ${Id} for Id does not match ${ID}.`;
    const age = nowMs - StartTime * 1_000;
    const unit = age > FIVE_MINUTES_KEPT_MS ? 3_600 : age > MINUTES_KEPT_MS ? 300 : 60;
    if (MetricStat.Period % unit !== 0) return `Period must be a multiple of ${unit} from StartTime on.`;
    if (!['Sum', 'Average'].includes(MetricStat.Stat)) return `The value ${MetricStat.Stat} is no statistic.`;
    if (MetricStat.Metric.Namespace.startsWith(':')) return 'Namespace may not begin with a colon.';
  }
  return undefined;
}

/** The data points from the token on. A metric with further points is `PartialData`. */
function page(
  asked: Request,
  points: readonly PutPoint[],
  { pageLength, status }: Pick<CloudWatchStandIn, 'pageLength' | 'status'>,
): { readonly MetricDataResults: readonly Result[]; readonly Messages: []; readonly NextToken?: string } {
  const from = Number(asked.NextToken ?? 0);
  const all = asked.MetricDataQueries.map((query) => [query, periodsOf(query, asked, points)] as const);
  const isCut = all.some(([, periods]) => periods.length > from + pageLength);
  return {
    MetricDataResults: all.map(([{ Id, MetricStat }, periods]) => {
      const some = periods.slice(from, from + pageLength);
      const hasMore = periods.length > from + pageLength;
      return {
        Id,
        Label: MetricStat.Metric.MetricName,
        Timestamps: some.map(([at]) => at),
        Values: some.map(([, value]) => value),
        StatusCode: status ?? (hasMore ? 'PartialData' : 'Complete'),
      };
    }),
    Messages: [],
    ...(isCut && { NextToken: String(from + pageLength) }),
  };
}

/** Seconds and values; a period without a point is left out. The newest comes first, unless the request says otherwise. */
function periodsOf(
  { MetricStat: { Metric, Period, Stat } }: Query,
  { StartTime, EndTime, ScanBy }: Request,
  points: readonly PutPoint[],
): readonly (readonly [number, number])[] {
  const wanted = JSON.stringify((Metric.Dimensions ?? []).map(({ Name, Value }) => [Name, Value]).sort());
  const values = new Map<number, number[]>();
  for (const { namespace, name, dimensions, atMs, value } of points) {
    const isOf = namespace === Metric.Namespace && name === Metric.MetricName;
    if (!isOf || JSON.stringify(Object.entries(dimensions).sort()) !== wanted) continue;
    const seconds = atMs / 1_000;
    if (seconds < StartTime || seconds >= EndTime) continue;
    const at = seconds - (seconds % Period);
    values.set(at, [...(values.get(at) ?? []), value]);
  }
  const order = ScanBy === 'TimestampAscending' ? 1 : -1;
  return [...values]
    .sort(([one], [other]) => order * (one - other))
    .map(([at, some]) => {
      const sum = some.reduce((total, value) => total + value, 0);
      return [at, Stat === 'Sum' ? sum : sum / some.length] as const;
    });
}
