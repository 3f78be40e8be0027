import { createApiFunction } from '../api/create-api-function.ts';
import { METRICS } from '../metrics/metric-names.ts';
import { authorizationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';
import { apiKeysOf, limitsOf } from './settings.ts';

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, clock, log, sleep } = runtime;
const { stores } = cloud;

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
    clock,
    sleep,
    log,
    topicLevelsMax: limitsOf(process.env).topicLevelsMax,
    published: (messages) => runtime.metrics.add(METRICS.messagesIn, messages),
    access: { keysSha256: apiKeysOf(process.env) },
  }),
);
