import { createOperator } from '../operator/create-operator.ts';
import { authorizationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, clock, log, sleep } = runtime;

/** Carries out the operator's requests, by hand or by `apus`. */
export const handler = withMetrics(
  runtime,
  createOperator({
    environment: cloud.environment,
    scan: cloud.stores.sweepScan,
    sessions: cloud.stores.sessions,
    bans: cloud.stores.bans,
    users: cloud.stores.users,
    tenants: cloud.stores.tenants,
    retained: cloud.stores.retained,
    streams: cloud.streams,
    presence: cloud.presence,
    usage: cloud.usage && cloud.stores.usage,
    clock,
    sleep,
    log,
  }),
);
