import { banHandlers } from './banned.ts';
import { bridgeHandlers } from './bridges.ts';
import { clientHandlers } from './clients.ts';
import type { ApiContext } from './context.ts';
import { documentHandlers } from './documents.ts';
import { elsewhereHandlers } from './elsewhere.ts';
import { presenceHandlers } from './presence.ts';
import { publishHandlers } from './publish.ts';
import { quotaHandlers } from './quotas.ts';
import { retainedHandlers } from './retained.ts';
import type { Handlers } from './router.ts';
import { ruleHandlers } from './rules.ts';
import { statsHandlers } from './stats.ts';
import { streamHandlers } from './streams.ts';
import { subscriptionHandlers } from './subscriptions.ts';
import { tenantHandlers } from './tenants.ts';
import { usageHandlers } from './usage.ts';

/** Answers every operation of the API: no operation is without a handler, and no handler without an operation. */
export function apiHandlers(context: ApiContext): Handlers {
  return {
    ...statsHandlers(context),
    ...clientHandlers(context),
    ...banHandlers(context),
    ...subscriptionHandlers(context),
    ...retainedHandlers(context),
    ...streamHandlers(context),
    ...presenceHandlers(context),
    ...publishHandlers(context),
    ...bridgeHandlers(context),
    ...ruleHandlers(context),
    ...tenantHandlers(context),
    ...usageHandlers(context),
    ...quotaHandlers(context),
    ...elsewhereHandlers,
    ...documentHandlers,
  };
}
