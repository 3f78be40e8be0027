import { ApiProblem, type Facts, OPERATIONS, type SystemFacts } from '@apus/api';
import type { InvocationContext } from '../events/gateway.ts';
import { readingFacts } from '../operator/reading-facts.ts';
import { banFacts, tenantFacts } from './administration.ts';
import { clientFacts } from './clients.ts';
import type { ApiContext } from './context.ts';
import { figureFacts } from './figures.ts';
import { retainedFacts } from './messages.ts';
import { partOf } from './pages.ts';
import { lettersOf, rulesOf } from './rules.ts';
import { subscriptionFacts } from './subscriptions.ts';
import { asyncApiFrom, bridgesOf } from './systems.ts';

/** A request with less time left begins no further round over the table. */
const RESERVE_MS = 15_000;

/** What a deployment can answer, within the time of one invocation. */
export function factsOf(
  context: ApiContext,
  breaker: SystemFacts['breaker'],
  invocation: InvocationContext,
): Facts {
  const { rules, bridges = [], described, streams } = context;
  const hasTime = () => invocation.getRemainingTimeInMillis() > RESERVE_MS;
  return {
    ...clientFacts(context, hasTime),
    ...subscriptionFacts(context, hasTime),
    ...banFacts(context, hasTime),
    ...tenantFacts(context, hasTime),
    ...retainedFacts(context),
    ...readingFacts(context),
    ...figureFacts(context, hasTime),
    partOf,
    breaker,
    bridges: (tenant) => bridgesOf(bridges, tenant),
    rules: (tenant) => rulesOf(rules, tenant, invocation),
    letters: (tenant, name) => lettersOf(rules, tenant, name, invocation),
    observed() {
      throw new ApiProblem('NOT_SUPPORTED', OPERATIONS.getMonitor.elsewhere ?? '');
    },
    asyncApi: asyncApiFrom(described, streams?.declared),
  };
}
