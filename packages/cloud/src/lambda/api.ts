import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import type { ApiBreaker } from '../api/breaker.ts';
import { createApiFunction } from '../api/create-api-function.ts';
import { namesOfFigures } from '../api/metrics.ts';
import type { ApiRules } from '../api/rules.ts';
import { stageReader } from '../api/stage.ts';
import { CloudWatchMetrics } from '../metrics/cloud-watch.ts';
import { GatewayMessages } from '../metrics/gateway-messages.ts';
import { METRICS } from '../metrics/metric-names.ts';
import { MonthCounters } from '../metrics/month-counters.ts';
import { askRulesFunction } from '../rules/ask-rules.ts';
import { authorizationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';
import {
  apiKeysOf,
  breakerOf,
  bridgesOf,
  credentialsOf,
  describedTopicsOf,
  limitsOf,
  quotasOf,
  required,
  rulesOf,
} from './settings.ts';
import { VARIABLES } from './variables.ts';

/** A month of one metric is some hundred kilobytes. */
const CLOUD_WATCH = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 10_000 },
};

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, clock, log, sleep } = runtime;
const { stores } = cloud;
const rules = apiRulesOf();
const namespace = required(process.env, VARIABLES.metricsNamespace);
const cloudWatchClient = new CloudWatchClient(CLOUD_WATCH);
const cloudWatch = new CloudWatchMetrics(cloudWatchClient, namespace);

/** Answers operators over HTTPS. With hashes of keys a request shows a key; without, Lambda has checked its signature. */
export const handler = withMetrics(
  runtime,
  createApiFunction({
    environment: cloud.environment,
    scan: stores.sweepScan,
    sessions: stores.sessions,
    subscriptions: stores.subscriptions,
    bans: stores.bans,
    users: stores.users,
    tenants: stores.tenants,
    retained: stores.retained,
    streams: cloud.streams,
    presence: cloud.presence,
    usage: cloud.usage && stores.usage,
    rules,
    counters: new MonthCounters(cloudWatch, clock, namesOfFigures(rules !== undefined)),
    bridges: bridgesOf(process.env),
    breaker: apiBreakerOf(),
    quotas: quotasOf(process.env),
    described: describedTopicsOf(process.env),
    clock,
    sleep,
    log,
    topicLevelsMax: limitsOf(process.env).topicLevelsMax,
    published: (messages) => runtime.metrics.add(METRICS.messagesIn, messages),
    access: { keysSha256: apiKeysOf(process.env) },
  }),
);

function apiRulesOf(): ApiRules | undefined {
  const found = rulesOf(process.env);
  if (found === undefined) return undefined;
  const ask = askRulesFunction({
    functionArn: required(process.env, VARIABLES.rulesFunctionArn),
    credentials: credentialsOf(process.env),
    endpoint: process.env.AWS_ENDPOINT_URL,
    now: () => clock.now(),
  });
  return { filters: found.filters, ask };
}

function apiBreakerOf(): ApiBreaker | undefined {
  const settings = breakerOf(process.env);
  if (settings === undefined) return undefined;
  const { apiId, stageName } = settings;
  const dimensions = { ApiId: apiId, Stage: stageName };
  const stages = new CloudWatchMetrics(cloudWatchClient, 'AWS/ApiGateway', dimensions);
  return {
    settings,
    messages: new GatewayMessages(stages, clock, log),
    readStage: stageReader({
      apiId,
      stageName,
      region: required(process.env, 'AWS_REGION'),
      credentials: credentialsOf(process.env),
      endpoint: process.env.AWS_ENDPOINT_URL,
      now: () => clock.now(),
    }),
  };
}
