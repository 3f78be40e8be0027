import { bannedRoutes } from './banned.ts';
import { bridgeRoutes } from './bridges.ts';
import { clientRoutes } from './clients.ts';
import type { ApiContext } from './context.ts';
import { presenceRoutes } from './presence.ts';
import { publishRoutes } from './publish.ts';
import { retainedRoutes } from './retained.ts';
import type { ApiRoute } from './router.ts';
import { ruleRoutes } from './rules.ts';
import { statsRoutes } from './stats.ts';
import { streamRoutes } from './streams.ts';
import { subscriptionRoutes } from './subscriptions.ts';
import { tenantRoutes } from './tenants.ts';
import { usageRoutes } from './usage.ts';

/** Everything that `/api/v5` answers. */
export function apiRoutes(context: ApiContext): readonly ApiRoute[] {
  return [
    ...statsRoutes(context),
    ...clientRoutes(context),
    ...bannedRoutes(context),
    ...subscriptionRoutes(context),
    ...retainedRoutes(context),
    ...streamRoutes(context),
    ...presenceRoutes(context),
    ...publishRoutes(context),
    ...bridgeRoutes(context),
    ...ruleRoutes(context),
    ...tenantRoutes(context),
    ...usageRoutes(context),
  ];
}
