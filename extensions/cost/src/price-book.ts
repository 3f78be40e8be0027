import { each, type Origin, type Price, perMillion } from './price.ts';

/** The date on which the prices were read. Look them up again before you base a decision on them. */
export const PRICE_BOOK_DATE = '2026-08';

/** The Region of all AWS prices here. */
export const PRICE_BOOK_REGION = 'us-east-1';

function aws(service: string, page: string): Origin {
  const source = `https://aws.amazon.com/${page}/`;
  return { service, region: PRICE_BOOK_REGION, date: PRICE_BOOK_DATE, source };
}

const GATEWAY = aws('Amazon API Gateway', 'api-gateway/pricing');
const LAMBDA = aws('AWS Lambda', 'lambda/pricing');
const DYNAMODB = aws('Amazon DynamoDB', 'dynamodb/pricing/on-demand');
const SQS = aws('Amazon SQS', 'sqs/pricing');
const CLOUDWATCH = aws('Amazon CloudWatch', 'cloudwatch/pricing');
const IOT_CORE = aws('AWS IoT Core', 'iot-core/pricing');
const APPSYNC_EVENTS = aws('AWS AppSync Events', 'appsync/pricing');
const EMQX: Origin = {
  service: 'EMQX Serverless',
  region: 'all',
  date: PRICE_BOOK_DATE,
  source: 'https://docs.emqx.com/en/cloud/latest/price/pricing.html',
};
const ABLY: Origin = {
  service: 'Ably',
  region: 'all',
  date: PRICE_BOOK_DATE,
  source: 'https://ably.com/docs/platform/pricing',
};
const LIGHTSAIL: Origin = {
  service: 'Amazon Lightsail',
  region: PRICE_BOOK_REGION,
  date: PRICE_BOOK_DATE,
  source: 'https://docs.aws.amazon.com/lightsail/latest/userguide/baseline-cpu-performance.html',
};

/** Prices of all places alike. The amounts that the plan includes stand as free tiers. */
function cloudflare(service: string, page: string): Origin {
  const source = `https://developers.cloudflare.com/${page}/platform/pricing/`;
  return { service, region: 'all', date: '2026-09', source };
}
const DURABLE_OBJECTS = cloudflare('Cloudflare Durable Objects', 'durable-objects');
const WORKERS = cloudflare('Cloudflare Workers', 'workers');
const included = (quantity: number) => ({ free: { quantity, months: 'always' } }) as const;

/** The machines of a cluster, read later than the rest. */
const CLUSTER_DATE = '2026-11';
function awsMachine(service: string, page: string): Origin {
  return { ...aws(service, page), date: CLUSTER_DATE };
}
const EC2 = awsMachine('Amazon EC2', 'ec2/pricing/on-demand');
const FARGATE = awsMachine('AWS Fargate', 'fargate/pricing');
const ELASTICACHE = awsMachine('Amazon ElastiCache for Valkey', 'elasticache/pricing');
const LOAD_BALANCER = awsMachine('Network Load Balancer', 'elasticloadbalancing/pricing');
const OF_REDIS = {
  status: 'unconfirmed',
  note: 'Four fifths of the price for Redis OSS, as AWS says of Valkey.',
} as const;

const YEAR = 12;

const BILLION = 1_000_000_000;

/** Every price that bills use: list prices, on demand, without free tiers and discounts. */
export const priceBook = {
  gatewayMessage: perMillion(GATEWAY, 'WebSocket message', 'message of 32 KB begun, either direction', 1, {
    above: [{ quantity: BILLION, usd: 0.8 }],
    free: { quantity: 1_000_000, months: YEAR },
  }),
  gatewayConnectionMinute: perMillion(GATEWAY, 'WebSocket connection', 'connection-minute', 0.25, {
    free: { quantity: 750_000, months: YEAR },
  }),
  lambdaRequest: perMillion(LAMBDA, 'Request', 'request', 0.2, {
    free: { quantity: 1_000_000, months: 'always' },
  }),
  lambdaGigabyteSecond: each(LAMBDA, 'Duration, arm64', 'GB-second', 0.0000133334, {
    free: { quantity: 400_000, months: 'always' },
  }),
  dynamodbWriteUnit: perMillion(DYNAMODB, 'Write, on demand', 'write request unit (1 KB)', 0.625),
  dynamodbReadUnit: perMillion(DYNAMODB, 'Read, on demand', 'read request unit (4 KB strong)', 0.125, {
    note: 'An eventually consistent read takes half a unit, a transaction two.',
  }),
  dynamodbStorage: each(DYNAMODB, 'Storage, standard class', 'GB-month', 0.25, {
    free: { quantity: 25, months: 'always' },
    status: 'unconfirmed',
  }),
  sqsStandardRequest: perMillion(SQS, 'Standard request', 'request of 64 KB begun', 0.4, {
    free: { quantity: 1_000_000, months: 'always' },
    note: 'The free million is for requests of both kinds together; it is counted here.',
  }),
  sqsFifoRequest: perMillion(SQS, 'FIFO request', 'request of 64 KB begun', 0.5),
  schedulerInvocation: perMillion(
    aws('Amazon EventBridge Scheduler', 'eventbridge/pricing'),
    'Invocation',
    'invocation',
    1,
    { status: 'unconfirmed' },
  ),
  dataTransferOut: each(
    aws('AWS data transfer', 'ec2/pricing/on-demand'),
    'Out to the internet',
    'GB',
    0.09,
    {
      free: { quantity: 100, months: 'always' },
    },
  ),
  logsIngestion: each(CLOUDWATCH, 'Logs ingestion', 'GB', 0.5, {
    free: { quantity: 5, months: 'always' },
  }),
  dashboard: each(CLOUDWATCH, 'Dashboard', 'dashboard-month', 3, {
    free: { quantity: 3, months: 'always' },
  }),
  alarm: each(CLOUDWATCH, 'Alarm, standard resolution', 'alarm-month', 0.1, {
    free: { quantity: 10, months: 'always' },
  }),
  metric: each(CLOUDWATCH, "Metric of one's own", 'metric-month', 0.3, {
    free: { quantity: 10, months: 'always' },
    note: 'By the hour in which it is written.',
  }),
  metricRead: perMillion(CLOUDWATCH, 'GetMetricData', 'metric requested', 10, {
    note: '$0.01 for a thousand; the free million requests of the API are of other operations.',
    status: 'unconfirmed',
  }),
  secret: each(aws('AWS Secrets Manager', 'secrets-manager/pricing'), 'Secret', 'secret-month', 0.4),
  kmsKey: each(aws('AWS KMS', 'kms/pricing'), 'Key of the customer', 'key-month', 1, {
    note: 'Keys that AWS owns cost nothing.',
  }),
  iotConnectionMinute: perMillion(IOT_CORE, 'Connection', 'connection-minute', 0.08, {
    free: { quantity: 2_250_000, months: YEAR },
  }),
  iotMessage: perMillion(IOT_CORE, 'Message', 'message of 5 KB begun', 1, {
    above: [
      { quantity: BILLION, usd: 0.8 },
      { quantity: 5 * BILLION, usd: 0.7 },
    ],
    free: { quantity: 500_000, months: YEAR },
    note: 'PUBLISH either way, CONNECT, SUBSCRIBE and a PUBACK from the device are metered; pings, PUBACK from the service, SUBACK and DISCONNECT are not. The prices beyond a billion are unconfirmed: its page shows them to a program only.',
  }),
  iotRuleTriggered: perMillion(IOT_CORE, 'Rule triggered', 'rule for a message of 5 KB begun', 0.15, {
    status: 'unconfirmed',
  }),
  iotRuleAction: perMillion(IOT_CORE, 'Action of a rule', 'action for a message of 5 KB begun', 0.15, {
    status: 'unconfirmed',
  }),
  appsyncOperation: perMillion(APPSYNC_EVENTS, 'Event API operation', 'operation of 5 KB begun', 1, {
    free: { quantity: 250_000, months: YEAR },
    note: 'An event published, each delivery, connecting and subscribing; the 5 KB are unconfirmed. Handlers of its channels, which are operations too, are not needed. Data out is charged beside it.',
  }),
  appsyncConnectionMinute: perMillion(APPSYNC_EVENTS, 'Connection', 'connection-minute', 0.08, {
    free: { quantity: 600_000, months: YEAR },
  }),
  emqxSessionMinute: perMillion(EMQX, 'Session', 'session-minute', 2, {
    free: { quantity: 1_000_000, months: 'always' },
    note: 'Persistent sessions count while their clients are away.',
  }),
  emqxTraffic: each(EMQX, 'Traffic, both directions', 'GB', 0.15, {
    free: { quantity: 1, months: 'always' },
  }),
  ablyMessage: perMillion(ABLY, 'Message', 'message of 5 KiB begun, each publish and each delivery', 2.5, {
    note: 'For accounts from before Ably priced by monthly active users (https://ably.com/docs/platform/pricing/resource-based); volume discounts are agreed upon.',
  }),
  ablyConnectionMinute: perMillion(ABLY, 'Connection', 'connection-minute', 1),
  ablyChannelMinute: perMillion(ABLY, 'Channel', 'channel-minute', 1),
  workersPlan: each(WORKERS, 'Paid plan', 'month', 5),
  workerRequest: perMillion(WORKERS, 'Request', 'request', 0.3, included(10_000_000)),
  workerMillisecond: perMillion(WORKERS, 'Processor time', 'millisecond', 0.02, included(30_000_000)),
  objectRequest: perMillion(DURABLE_OBJECTS, 'Request', 'request, alarm, or 20 messages received', 0.15, {
    ...included(1_000_000),
    note: 'Messages that an object sends are free. So is data out.',
  }),
  objectDuration: perMillion(DURABLE_OBJECTS, 'Duration', 'GB-second of 128 MB', 12.5, {
    ...included(400_000),
    note: 'While an object is at work, or may not sleep because a timer is set.',
  }),
  objectRowRead: perMillion(DURABLE_OBJECTS, 'Row read', 'row', 0.001, included(25 * BILLION)),
  objectRowWritten: perMillion(DURABLE_OBJECTS, 'Row written', 'row written or deleted', 1, {
    ...included(50_000_000),
    note: 'Setting an alarm is a row.',
  }),
  c7gXlarge: each(EC2, 'c7g.xlarge, 4 vCPU, 8 GB, Linux', 'machine-hour', 0.145, { status: 'unconfirmed' }),
  m7gXlarge: each(EC2, 'm7g.xlarge, 4 vCPU, 16 GB, Linux', 'machine-hour', 0.1632),
  fargateCpu: each(FARGATE, 'vCPU, Linux on Graviton', 'vCPU-hour', 0.03238),
  fargateMemory: each(FARGATE, 'Memory, Linux on Graviton', 'GB-hour', 0.00356),
  engineM7gLarge: each(ELASTICACHE, 'cache.m7g.large, 6.4 GB', 'node-hour', 0.1264, OF_REDIS),
  engineM7gXlarge: each(ELASTICACHE, 'cache.m7g.xlarge, 12.9 GB', 'node-hour', 0.252, OF_REDIS),
  engineR7gXlarge: each(ELASTICACHE, 'cache.r7g.xlarge, 26.3 GB', 'node-hour', 0.3496, OF_REDIS),
  engineR7g2xlarge: each(ELASTICACHE, 'cache.r7g.2xlarge, 52.8 GB', 'node-hour', 0.6984, OF_REDIS),
  loadBalancer: each(LOAD_BALANCER, 'Load balancer', 'hour', 0.0225),
  loadBalancerUnit: each(LOAD_BALANCER, 'Capacity unit', 'unit-hour', 0.006, {
    note: 'Over TLS 50 new connections a second, 3,000 connections, or 1 GB an hour, whichever is most.',
  }),
  transferBetweenZones: each(
    awsMachine('AWS data transfer', 'ec2/pricing/on-demand'),
    'Between Availability Zones, each way',
    'GB',
    0.01,
  ),
  machine: each(LIGHTSAIL, 'Linux plan, 2 vCPU, 4 GB', 'machine-month', 24),
} as const satisfies Record<string, Price>;

export type PriceName = keyof typeof priceBook;

/** A price by its name, as the plain interface. */
export function priceOf(name: PriceName): Price {
  return priceBook[name];
}
