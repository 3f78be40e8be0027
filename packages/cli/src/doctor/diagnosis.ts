import { type AccountQuotas, QUOTA_CODES } from './account-quotas.ts';

/** The load that the deployment has to carry. */
export interface Load {
  /** Clients connected at the same time. */
  readonly connections: number;
  /** Messages a second that all clients together publish. */
  readonly messagesPerSecond: number;
  /** Subscribers that a message reaches. */
  readonly deliveriesPerMessage: number;
}

/** One quota, and the part of it that the load needs. */
export interface Reading {
  readonly quota: keyof AccountQuotas;
  readonly label: string;
  readonly limit: number;
  readonly needed: number;
  /** `needed / limit`. */
  readonly share: number;
  /** How to raise the quota; undefined if it cannot be raised. */
  readonly raise: string | undefined;
}

/** A client that sends nothing else sends a heartbeat this often. */
export const HEARTBEAT_SECONDS = 540;
/** A frame keeps an environment busy for this long: DynamoDB and the posts, with 512 MB. */
const FRAME_SECONDS = 0.025;
/** However fast they are, Lambda counts an environment for at most this many requests a second. */
const REQUESTS_PER_ENVIRONMENT_SECOND = 10;
/** With more subscribers of a filter than this, workers deliver, and each makes this many posts a second. */
export const INLINE_SUBSCRIBERS_MAX = 12;
const POSTS_PER_WORKER_SECOND = 500;
/**
 * A fleet that was cut has to be back within this long. The end of connections after two hours needs a twelfth of it.
 */
const RETURN_SECONDS = 600;
/** The peak factor: frames and posts are not spread evenly over a second. */
const BURST_SHARE = 0.5;
/** From this use on a peak would exceed the quota. */
export const TIGHT_SHARE = 0.7;

/**
 * The use of each quota under the load, the highest first.
 *
 * @param region for the commands that request more; undefined: the Region of the AWS profile
 */
export function diagnose(quotas: AccountQuotas, load: Load, region?: string): readonly Reading[] {
  const frames = load.messagesPerSecond + load.connections / HEARTBEAT_SECONDS;
  const posts = load.messagesPerSecond * load.deliveriesPerMessage;
  const needed: Readonly<Record<keyof AccountQuotas, number>> = {
    concurrentExecutions: environmentsFor(frames) + workersFor(posts, load.deliveriesPerMessage),
    requestsPerSecond: frames + posts,
    burstRequests: (frames + posts) * BURST_SHARE,
    newConnectionsPerSecond: load.connections / RETURN_SECONDS,
  };
  const names = Object.keys(LABELS) as (keyof AccountQuotas)[];
  return names
    .map((quota) => readingOf(quota, quotas[quota], needed[quota], region))
    .sort((a, b) => b.share - a.share);
}

function environmentsFor(frames: number): number {
  return Math.max(frames * FRAME_SECONDS, frames / REQUESTS_PER_ENVIRONMENT_SECOND);
}

function workersFor(posts: number, deliveriesPerMessage: number): number {
  return deliveriesPerMessage > INLINE_SUBSCRIBERS_MAX ? posts / POSTS_PER_WORKER_SECOND : 0;
}

const LABELS: Readonly<Record<keyof AccountQuotas, string>> = {
  concurrentExecutions: 'Lambda: concurrent executions',
  requestsPerSecond: 'API Gateway: requests a second',
  burstRequests: 'API Gateway: requests at once',
  newConnectionsPerSecond: 'API Gateway: new connections a second',
};

function readingOf(
  quota: keyof AccountQuotas,
  limit: number,
  needed: number,
  region: string | undefined,
): Reading {
  return {
    quota,
    label: LABELS[quota],
    limit,
    needed: Math.ceil(needed),
    share: limit > 0 ? needed / limit : Number.POSITIVE_INFINITY,
    raise: raiseOf(quota, needed, region),
  };
}

/** Enough that the load uses half of it. */
function raiseOf(quota: keyof AccountQuotas, needed: number, region: string | undefined): string | undefined {
  if (quota === 'burstRequests') return undefined;
  const { service, code } = QUOTA_CODES[quota];
  const wanted = roundUp(needed * 2);
  const where = region === undefined ? '' : ` --region ${region}`;
  return `aws service-quotas request-service-quota-increase${where} --service-code ${service} --quota-code ${code} --desired-value ${wanted}`;
}

/** Rounds to two digits, for a request. */
function roundUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(value, 1))) - 1);
  return Math.ceil(value / unit) * unit;
}
