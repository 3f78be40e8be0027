import { randomBytes } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { type Clock, type Log, SparingLog } from '@apus/broker';
import { OtlpExporter, Tracer } from '@apus/door';
import { leanClient } from '@apus/store-dynamodb';
import { CompiledPayloads } from '@apus/topics/checked';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SqsQueue } from '../fan-out/job-queue.ts';
import { QueueBacklog } from '../fan-out/queue-backlog.ts';
import { FUNCTION_OPTIONS, type FunctionOptions, readOptions, type Variables } from '../function-options.ts';
import { OPTIONAL_METRICS } from '../metrics/metric-names.ts';
import { TenantMeter } from '../metrics/tenant-meter.ts';
import { SignedPoster } from '../posts/signed-poster.ts';
import { SqsTimers } from '../timers/sqs-timers.ts';
import type { Authentication, AuthenticationContext } from './authentication.ts';
import { type Cloud, composeCloud } from './compose.ts';
import { functionClock } from './function-clock.ts';
import { functionLog } from './function-log.ts';
import { FunctionMetrics } from './function-metrics.ts';
import { InvocationDeadline } from './invocation-deadline.ts';
import { meteredLog } from './metered-log.ts';
import {
  credentialsOf,
  payloadChecksOf,
  presenceOf,
  quotasOf,
  required,
  rulesOf,
  streamsOf,
} from './settings.ts';
import { VARIABLES } from './variables.ts';

/** A call that takes longer is tried again: a handler has five seconds in all. */
const HTTP_TIMEOUTS = { connectionTimeout: 1_000, requestTimeout: 2_000 };

/** The stores and queues try again by themselves, and count. */
const CLIENT = { maxAttempts: 1, requestHandler: HTTP_TIMEOUTS };

/** An event waits for its collector at its end, as Lambda freezes the environment behind it. */
const OTLP_TIMEOUT_MS = 1_000;

const RANDOM_ID_BYTES = 12;

/** The values that every function of a deployment uses: made once, before the first event. */
export interface Runtime {
  readonly variables: Variables;
  /** What the owner has set. */
  readonly options: FunctionOptions;
  readonly cloud: Cloud;
  readonly poster: SignedPoster;
  readonly timers: SqsTimers;
  readonly sqs: SQSClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: FunctionMetrics;
  /** Undefined where no traces are asked for. */
  readonly tracer: Tracer | undefined;
  readonly deadline: InvocationDeadline;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  readonly randomId: () => string;
  /** A queue of ours, by its URL. */
  queue(queueUrl: string): SqsQueue;
}

/** Time, log and measurements of a function. */
interface Instruments {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: FunctionMetrics;
  /** Undefined where tenants have no metrics of their own. */
  readonly tenantMeter: TenantMeter | undefined;
  readonly tracer: Tracer | undefined;
  readonly deadline: InvocationDeadline;
}

export function createRuntime(
  variables: Variables,
  authenticationOf: (variables: Variables, context: AuthenticationContext) => Authentication,
): Runtime {
  const options = readOptions(variables, FUNCTION_OPTIONS);
  const instruments = createInstruments(variables, options);
  const { clock, log, metrics, tracer, deadline } = instruments;
  const { authenticator, authorizer, handshakes, tokens } = authenticationOf(variables, {
    clock,
    log,
    remainingMs: deadline.remainingMs,
    // Not before the first event: the stores are made below.
    readUser: (tenant, name) => cloud.stores.users.get(tenant, name),
    readTenant: (name) => cloud.stores.tenants.get(name),
  });
  const sqs = new SQSClient(CLIENT);
  const queue = (queueUrl: string) => new SqsQueue({ client: sqs, queueUrl, sleep });
  const poster = createPoster(variables, instruments);
  const timers = new SqsTimers({ queue: queue(required(variables, VARIABLES.timerQueueUrl)), clock });
  const random = Math.random;
  const cloud: Cloud = composeCloud({
    ...{ clock, sleep, random, randomId, log, tracer },
    ...{ authenticator, authorizer, handshakes, tokens },
    ...{ poster, timers, livenessTimers: timers },
    ...settingsOf(variables, options),
    ...queuesOf(variables, sqs, instruments),
    dynamo: leanClient(CLIENT),
    payloads: payloadsOf(variables, metrics),
    tenantMeter: instruments.tenantMeter,
    meter: metrics,
  });
  return {
    ...{ variables, options, cloud, poster, timers, sqs, clock, log, metrics, tracer, deadline },
    ...{ sleep, random, randomId, queue },
  };
}

function createInstruments(
  variables: Variables,
  { tenantMetrics: largest, metricsNamespace = 'Apus', otlpUrl }: FunctionOptions,
): Instruments {
  const clock = functionClock();
  const tenantMeter = largest === undefined ? undefined : new TenantMeter(largest);
  const metrics = new FunctionMetrics(metricsNamespace, clock, tenantMeter);
  const log = meteredLog(new SparingLog(functionLog(variables), clock), metrics);
  const tracer = tracerOf(variables, otlpUrl, log);
  return { clock, log, metrics, tenantMeter, tracer, deadline: new InvocationDeadline() };
}

/** What the deployment has been given: names of tables, and what its owner has set. */
function settingsOf(variables: Variables, options: FunctionOptions) {
  return {
    ...options,
    tableName: required(variables, VARIABLES.tableName),
    sessionsTableName: required(variables, VARIABLES.sessionsTableName),
    quotas: quotasOf(options),
    streams: streamsOf(options, variables),
    presence: presenceOf(options, variables),
  };
}

/** The queues of jobs for workers and of messages for rules, and how far behind each of them is. */
function queuesOf(variables: Variables, client: SQSClient, { clock, log }: Instruments) {
  const fanOutUrl = required(variables, VARIABLES.fanOutQueueUrl);
  const queue = (queueUrl: string) => new SqsQueue({ client, queueUrl, sleep });
  const rules = rulesOf(variables);
  return {
    fanOut: {
      queue: queue(fanOutUrl),
      backlog: new QueueBacklog({ client, queueUrl: fanOutUrl, clock, log }),
    },
    rules: rules && {
      filters: rules.filters,
      queue: queue(rules.queueUrl),
      backlog: new QueueBacklog({ client, queueUrl: rules.queueUrl, clock, log, name: 'rules' }),
    },
  };
}

function payloadsOf(variables: Variables, metrics: FunctionMetrics): CompiledPayloads | undefined {
  const checks = payloadChecksOf(variables);
  return checks && new CompiledPayloads(checks, () => metrics.add(OPTIONAL_METRICS.payloadsRefused));
}

/** A handler that knows how long it may take, and writes its metrics and usage when it is time. */
export function withMetrics<Call extends unknown[], Result>(
  { metrics, deadline, cloud, tracer }: Runtime,
  handle: (...call: Call) => Promise<Result>,
): (...call: Call) => Promise<Result> {
  return async (...call) => {
    deadline.begin(call[1]);
    try {
      return await handle(...call);
    } finally {
      metrics.flushWhenDue();
      await Promise.all([cloud.usage?.flushWhenDue(), tracer?.flush()]);
    }
  };
}

function tracerOf(variables: Variables, url: string | undefined, log: Log): Tracer | undefined {
  if (url === undefined) return undefined;
  const { AWS_LAMBDA_FUNCTION_NAME: faas = 'apus', AWS_REGION: region = '' } = variables;
  const resource = { 'service.name': 'apus', 'faas.name': faas, 'cloud.region': region };
  return new Tracer({ exporter: new OtlpExporter({ url, resource, timeoutMs: OTLP_TIMEOUT_MS }), log });
}

function createPoster(variables: Variables, { clock, log, metrics: meter }: Instruments): SignedPoster {
  return new SignedPoster({
    endpoint: required(variables, VARIABLES.managementEndpoint),
    region: required(variables, 'AWS_REGION'),
    credentials: credentialsOf(variables),
    clock,
    sleep,
    meter,
    log,
  });
}

async function sleep(ms: number): Promise<void> {
  await sleepFor(ms);
}

function randomId(): string {
  return randomBytes(RANDOM_ID_BYTES).toString('base64url');
}
