import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import type { ApiBreaker } from '../api/breaker.ts';
import { createApiFunction } from '../api/create-api-function.ts';
import { namesOfFigures } from '../api/figures.ts';
import type { ApiRules } from '../api/rules.ts';
import { stageReader } from '../api/stage.ts';
import { variableOf } from '../function-options.ts';
import { CloudWatchMetrics } from '../metrics/cloud-watch.ts';
import { GatewayMessages } from '../metrics/gateway-messages.ts';
import { METRICS } from '../metrics/metric-names.ts';
import { MonthCounters } from '../metrics/month-counters.ts';
import { askRulesFunction } from '../rules/ask-rules.ts';
import { apiOptionsOf } from './api-options.ts';
import { authorizationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';
import {
  apiKeysOf,
  breakerOf,
  bridgesOf,
  credentialsOf,
  describedTopicsOf,
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
const { clock, log } = runtime;
const rules = apiRulesOf();
const cloudWatchClient = new CloudWatchClient(CLOUD_WATCH);
const cloudWatch = new CloudWatchMetrics(
  cloudWatchClient,
  required(process.env, variableOf('metricsNamespace')),
);

/** Answers operators over HTTPS. With hashes of keys a request shows a key; without, Lambda has checked its signature. */
export const handler = withMetrics(
  runtime,
  createApiFunction({
    ...apiOptionsOf(runtime),
    rules,
    counters: new MonthCounters(cloudWatch, clock, namesOfFigures(rules !== undefined)),
    bridges: bridgesOf(process.env),
    breaker: apiBreakerOf(),
    described: describedTopicsOf(process.env),
    topicLevelsMax: runtime.options.limits?.topicLevelsMax,
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
