import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { createApiFunction } from '../api/create-api-function.ts';
import { namesOfFigures } from '../api/metrics.ts';
import type { ApiRules } from '../api/rules.ts';
import { CloudWatchMetrics } from '../metrics/cloud-watch.ts';
import { METRICS } from '../metrics/metric-names.ts';
import { MonthCounters } from '../metrics/month-counters.ts';
import { askRulesFunction } from '../rules/ask-rules.ts';
import { authorizationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';
import { apiKeysOf, credentialsOf, describedTopicsOf, limitsOf, required, rulesOf } from './settings.ts';
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
const cloudWatch = new CloudWatchMetrics(new CloudWatchClient(CLOUD_WATCH), namespace);

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
