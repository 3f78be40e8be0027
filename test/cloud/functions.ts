import { parseClientFrame, type RequestSender, SignedPoster } from '@apus/aws';
import {
  type ApiFunctionOptions,
  type Cloud,
  type CloudOptions,
  composeCloud,
  createApiFunction,
  createFanOutWorker,
  createOperator,
  createPublishFunction,
  createSweep,
  createTimerHandler,
  type EnvironmentUsage,
  QueueBacklog,
  SqsQueue,
  SqsTimers,
  SqsVisibility,
} from '@apus/aws/lambda';
import { GATEWAY_QUOTAS, type Log, readStreams } from '@apus/broker';
import type { Environment } from '@apus/emulated-aws';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { ApiParts } from './api-parts.ts';
import {
  FAN_OUT,
  FAN_OUT_DEAD,
  RULES,
  SESSIONS_TABLE,
  STREAMS_TABLE,
  TABLE,
  TIMERS,
  TIMERS_DEAD,
} from './names.ts';
import type { CloudWorldOptions } from './options.ts';
import { outsideFunctions, rulesOf } from './outside.ts';

/** The services of the account, as an execution environment sees them. */
export interface Services {
  readonly dynamo: (environment: Environment) => CloudOptions['dynamo'];
  readonly sqs: (environment: Environment) => SQSClient;
  readonly queueUrl: (name: string) => string;
  /** Carries requests to @connections. @default sockets */
  readonly requests?: (environment: Environment) => RequestSender;
  readonly tableName?: string;
  readonly stores?: CloudOptions['stores'];
  readonly log: Log;
}

/** Makes the functions of one execution environment, with SDK clients of its own. */
export function functionsOf(environment: Environment, services: Services, options: CloudWorldOptions) {
  const { clock, variables } = environment;
  const { log } = services;
  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(ms, resolve));
  const random = options.random ?? Math.random;
  let ids = 0;
  const randomId = () => `${environment.id}-${(ids++).toString(36)}`;
  const client = services.sqs(environment);
  const queueUrl = (name: string) => services.queueUrl(name);
  const queue = (name: string) => new SqsQueue({ client, queueUrl: queueUrl(name), sleep });
  const requests = services.requests?.(environment);
  const poster = new SignedPoster({
    endpoint: environment.managementEndpoint,
    region: variables.AWS_REGION ?? '',
    credentials: {
      accessKeyId: variables.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: variables.AWS_SECRET_ACCESS_KEY ?? '',
      sessionToken: variables.AWS_SESSION_TOKEN,
    },
    clock: { now: Date.now },
    sleep,
    ...(requests !== undefined && { client: requests }),
  });
  const timers = new SqsTimers({ queue: queue(TIMERS), clock });
  const backlog = new QueueBacklog({ client, queueUrl: queueUrl(FAN_OUT), clock, log });
  const cloud: Cloud = composeCloud({
    resumeSeconds: options.resumeSeconds,
    cutAfterMs: options.cutAfterMs,
    dynamo: options.alterations?.dynamo?.(services.dynamo(environment)) ?? services.dynamo(environment),
    tableName: services.tableName ?? TABLE,
    sessionsTableName: services.tableName ?? SESSIONS_TABLE,
    fanOut: { queue: queue(FAN_OUT), backlog },
    timers,
    livenessTimers: timers,
    poster,
    clock,
    sleep,
    random,
    randomId,
    log,
    authenticator: options.authenticator ?? { authenticate: () => ({ tenant: 'default', name: '' }) },
    authorizer: options.authorizer ?? { mayPublish: () => true, maySubscribe: () => true },
    tokens: options.tokens,
    handshakes: options.handshakes,
    ...(options.limits !== undefined && { limits: options.limits }),
    ...(options.quotas !== undefined && { quotas: options.quotas }),
    ...(options.streams !== undefined && {
      streams: {
        declared: readStreams(options.streams, 'streams'),
        tableName: services.tableName ?? STREAMS_TABLE,
      },
    }),
    ...(options.presence === true && { presence: { tableName: services.tableName ?? STREAMS_TABLE } }),
    ...(options.outside !== undefined && {
      rules: {
        filters: rulesOf(options.outside),
        queue: queue(RULES),
        backlog: { isFull: async () => false },
      },
    }),
    usage: options.usage,
    payloads: options.payloads,
    tracer: options.tracer,
    stores: {
      ...services.stores,
      ...options.alterations?.stores,
      ...(options.inlineSubscribersMax !== undefined && {
        inlineSubscribersMax: options.inlineSubscribersMax,
      }),
      ...(options.completed !== undefined && { completed: options.completed }),
      ...(options.shardSubscribers !== undefined && { shardSubscribers: options.shardSubscribers }),
    },
  });
  if (options.connectionSeconds !== undefined)
    Object.defineProperty(cloud.environment, 'connectionSeconds', { get: options.connectionSeconds });
  options.alterations?.cloud?.(cloud);
  const { stores, usage } = cloud;
  const operatorOptions = {
    environment: cloud.environment,
    scan: stores.sweepScan,
    sessions: stores.sessions,
    subscriptions: stores.subscriptions,
    quotas: options.quotas ?? GATEWAY_QUOTAS,
    bans: stores.bans,
    users: stores.users,
    tenants: stores.tenants,
    retained: stores.retained,
    streams: cloud.streams,
    presence: cloud.presence,
    usage: usage && stores.usage,
    clock,
    sleep,
    log,
  };
  return {
    cloud,
    routes: flushing(observed(cloud.routes, environment, options), usage),
    publish: (keys: string) =>
      createPublishFunction({
        environment: cloud.environment,
        clock,
        readKeys: async () => keys,
        streams: cloud.streams,
        presence: cloud.presence,
      }),
    fanOut: () =>
      flushingUsage(
        usage,
        createFanOutWorker({
          environment: cloud.environment,
          poster,
          subscriptions: stores.subscriptions,
          progress: stores.fanOutProgress,
          deadLetters: queue(FAN_OUT_DEAD),
          visibility: new SqsVisibility({ client, queueUrl: queueUrl(FAN_OUT), log }),
          clock,
          sleep,
          random,
          randomId,
          log,
          ...(options.workerLimits !== undefined && { limits: options.workerLimits }),
        }),
      ),
    timers: () => {
      const deadLetters = queue(TIMERS_DEAD);
      return flushingUsage(usage, createTimerHandler({ cloud, timers, deadLetters, clock, log }));
    },
    sweep: () =>
      createSweep({
        environment: cloud.environment,
        scan: stores.sweepScan,
        sessions: stores.sessions,
        retained: stores.retained,
        holdings: stores.quotaHoldings,
        shapes: stores.shapes,
        bans: stores.bans,
        usage: usage && stores.usage,
        clock,
        log,
      }),
    outside: () => {
      if (options.outside === undefined) throw new Error('there is nothing outside');
      const visibility = new SqsVisibility({ client, queueUrl: queueUrl(RULES), log });
      const own = outsideFunctions(options.outside, environment, { cloud }, { visibility, sleep });
      return options.alterations?.outside?.(own) ?? own;
    },
    operator: (parts: Partial<Pick<ApiFunctionOptions, 'sleep'>> = {}) =>
      createOperator({ ...operatorOptions, ...parts }),
    /** A ban does not wait here until other processes have read the list (`bans.test.ts`). */
    api: (access: ApiFunctionOptions['access'], parts: ApiParts = {}) =>
      createApiFunction({
        ...operatorOptions,
        sleep: async () => {},
        ...parts,
        access,
      }),
  };
}

function flushing(routes: Cloud['routes'], usage: Cloud['usage']): Cloud['routes'] {
  return {
    connect: flushingUsage(usage, routes.connect),
    default: flushingUsage(usage, routes.default),
    disconnect: flushingUsage(usage, routes.disconnect),
  };
}

function observed(routes: Cloud['routes'], environment: Environment, { onFrame }: CloudWorldOptions) {
  if (onFrame === undefined) return routes;
  const handle: Cloud['routes']['default'] = async (event, context) => {
    const frame = parseClientFrame(event.body ?? '');
    if ('bytes' in frame) onFrame(environment.id, frame.bytes);
    return await routes.default(event, context);
  };
  return { ...routes, default: handle };
}

/** Errors are kept, the rest is dropped. */
export function logInto(failures: string[]): Log {
  return {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (event, fields) => failures.push(`${event} ${JSON.stringify(fields)}`),
  };
}

/** A handler that writes the usage after its events, when it is due. */
function flushingUsage<Call extends unknown[], Result>(
  usage: EnvironmentUsage | undefined,
  handle: (...call: Call) => Promise<Result>,
): (...call: Call) => Promise<Result> {
  if (usage === undefined) return handle;
  return async (...call) => {
    try {
      return await handle(...call);
    } finally {
      await usage.flushWhenDue();
    }
  };
}
