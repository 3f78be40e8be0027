/** The quotas of a deployment. Rates are per second unless their name says minute. */
export interface Quotas {
  readonly requestsPerSecond: number;
  readonly requestsBurst: number;
  readonly newConnectionsPerSecond: number;
  readonly stageFramesPerSecond: number;
  readonly maxPostsPerSecond: number;
  readonly messagesPerMinuteMax: number;
  readonly identityFramesPerSecondMax: number;
  readonly identityPublishesPerSecondMax: number;
  readonly identityDeliveriesPerMinuteMax: number;
  readonly lambdaConcurrency: number;
  readonly lambdaScalingPerTenSeconds: number;
  readonly fifoMessagesPerSecond: number;
  readonly fifoCallsPerGroupSecond: number;
  readonly tableReadsPerSecond: number;
  readonly tableWritesPerSecond: number;
  readonly partitionReadsPerSecond: number;
  readonly partitionWritesPerSecond: number;
}

export type QuotaName = keyof Quotas;

/** The kind of a quota: its owner, and the way to raise it. */
export interface QuotaKind {
  readonly preset: number;
  readonly label: string;
  /** `deployment`: an option of the deployment. `request`: AWS raises it when asked. `fixed`: it cannot be raised. */
  readonly raisedBy: 'deployment' | 'request' | 'fixed';
  readonly how: string;
  readonly source: string;
}

const FACTS = 'API Gateway quotas';
const LAMBDA = 'Lambda quotas and scaling behaviour';
const DYNAMODB = 'DynamoDB developer guide';

export const QUOTA_KINDS: { readonly [K in QuotaName]: QuotaKind } = {
  requestsPerSecond: {
    preset: 10_000,
    label: 'API Gateway: requests of the account',
    raisedBy: 'request',
    how: 'Service Quotas: "Throttle rate" of API Gateway. Frames, @connections calls and the owner\'s other APIs share it.',
    source: FACTS,
  },
  requestsBurst: {
    preset: 5_000,
    label: 'API Gateway: requests at once',
    raisedBy: 'request',
    how: 'AWS sets it with the throttle rate.',
    source: FACTS,
  },
  newConnectionsPerSecond: {
    preset: 500,
    label: 'API Gateway: new connections',
    raisedBy: 'request',
    how: 'Service Quotas: "New connections per second per account across all WebSocket APIs".',
    source: FACTS,
  },
  stageFramesPerSecond: {
    preset: 500,
    label: "Deployment's own throttle of frames",
    raisedBy: 'deployment',
    how: 'npm run deploy -- --frames-per-second',
    source: 'infra/lib/defaults.ts',
  },
  maxPostsPerSecond: {
    preset: 1_000,
    label: "Deployment's budget of fan-out posts",
    raisedBy: 'deployment',
    how: 'npm run deploy -- --max-posts-per-second',
    source: 'infra/lib/defaults.ts',
  },
  messagesPerMinuteMax: {
    preset: 100_000,
    label: "Deployment's breaker: messages a minute",
    raisedBy: 'deployment',
    how: 'npm run deploy -- --messages-per-minute-max',
    source: 'infra/lib/defaults.ts',
  },
  identityFramesPerSecondMax: {
    preset: 100,
    label: "Deployment's limit of an identity: frames",
    raisedBy: 'deployment',
    how: 'npm run deploy -- --identity-frames-per-second-max',
    source: 'broker/src/model/quotas.ts',
  },
  identityPublishesPerSecondMax: {
    preset: 1_000,
    label: "Deployment's limit of an identity: publishes",
    raisedBy: 'deployment',
    how: 'npm run deploy -- --identity-publishes-per-second-max',
    source: 'broker/src/model/quotas.ts',
  },
  identityDeliveriesPerMinuteMax: {
    preset: 30_000,
    label: "Deployment's limit of an identity: deliveries a minute",
    raisedBy: 'deployment',
    how: 'npm run deploy -- --identity-deliveries-per-minute-max',
    source: 'broker/src/model/quotas.ts',
  },
  lambdaConcurrency: {
    preset: 1_000,
    label: 'Lambda: concurrent executions',
    raisedBy: 'request',
    how: 'Service Quotas: "Concurrent executions". New accounts often begin with 10.',
    source: LAMBDA,
  },
  lambdaScalingPerTenSeconds: {
    preset: 1_000,
    label: 'Lambda: new environments in ten seconds',
    raisedBy: 'fixed',
    how: 'Load that rises more slowly, or provisioned concurrency.',
    source: LAMBDA,
  },
  fifoMessagesPerSecond: {
    preset: 70_000,
    label: 'SQS FIFO, high throughput: messages',
    raisedBy: 'request',
    how: 'Service Quotas, or several queues.',
    source: 'SQS quotas, us-east-1',
  },
  fifoCallsPerGroupSecond: {
    preset: 300,
    label: 'SQS FIFO: calls of a message group',
    raisedBy: 'fixed',
    how: 'Messages that share a frame share a job.',
    source: 'SQS quotas',
  },
  tableReadsPerSecond: {
    preset: 12_000,
    label: 'DynamoDB: read units of a new table',
    raisedBy: 'deployment',
    how: 'warmThroughput of the table; beyond 40,000 also the quota of the account.',
    source: DYNAMODB,
  },
  tableWritesPerSecond: {
    preset: 4_000,
    label: 'DynamoDB: write units of a new table',
    raisedBy: 'deployment',
    how: 'warmThroughput of the table; beyond 40,000 also the quota of the account.',
    source: DYNAMODB,
  },
  partitionReadsPerSecond: {
    preset: 3_000,
    label: 'DynamoDB: read units of one partition',
    raisedBy: 'fixed',
    how: 'No setting: fewer environments, or a cache of longer life in each.',
    source: DYNAMODB,
  },
  partitionWritesPerSecond: {
    preset: 1_000,
    label: 'DynamoDB: write units of one partition',
    raisedBy: 'fixed',
    how: 'No setting: more shards.',
    source: DYNAMODB,
  },
};

export const QUOTA_NAMES = Object.keys(QUOTA_KINDS) as readonly QuotaName[];

export const DEFAULT_QUOTAS: Quotas = quotasFrom((name) => QUOTA_KINDS[name].preset);

/** No refusals: the run shows the full demand. */
export const NO_QUOTAS: Quotas = quotasFrom(() => Number.POSITIVE_INFINITY);

export function quotasFrom(value: (name: QuotaName) => number): Quotas {
  return Object.fromEntries(QUOTA_NAMES.map((name) => [name, value(name)])) as unknown as Quotas;
}

/** The share of an account for one of this many parts of the traffic. Each identity keeps its own quotas. */
export function shareOf(quotas: Quotas, parts: number): Quotas {
  return quotasFrom((name) => (name.startsWith('identity') ? quotas[name] : quotas[name] / parts));
}
