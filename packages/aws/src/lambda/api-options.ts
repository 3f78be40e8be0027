import type { OperatorFunctionOptions } from '../api/create-api-function.ts';
import type { Runtime } from './runtime.ts';
import { quotasOf } from './settings.ts';

/** What the operator's function and that of the HTTP API have alike. */
export function apiOptionsOf({ cloud, clock, log, sleep, options }: Runtime): OperatorFunctionOptions {
  const { environment, streams, presence, stores } = cloud;
  return {
    ...{ environment, streams, presence, clock, log, sleep },
    scan: stores.sweepScan,
    sessions: stores.sessions,
    subscriptions: stores.subscriptions,
    bans: stores.bans,
    users: stores.users,
    tenants: stores.tenants,
    retained: stores.retained,
    usage: cloud.usage && stores.usage,
    quotas: quotasOf(options),
  };
}
