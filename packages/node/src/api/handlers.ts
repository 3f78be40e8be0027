import type { Facts } from '@apus/api';
import type { ApiPeers } from '../cluster.ts';
import { banFacts, tenantFacts } from './administration.ts';
import { handlersOf } from './answers.ts';
import { clientFacts } from './clients.ts';
import type { ApiContext } from './context.ts';
import { figureFacts } from './figures.ts';
import { messageFacts } from './messages.ts';
import { observingFacts } from './observing.ts';
import { publishHandlers } from './publish.ts';
import type { Handlers } from './router.ts';
import { subscriptionFacts } from './subscriptions.ts';
import { systemFacts } from './systems.ts';

/** What this process can answer. */
export function factsOf(context: ApiContext): Facts {
  return {
    ...clientFacts(context),
    ...subscriptionFacts(context),
    ...banFacts(context),
    ...messageFacts(context),
    ...tenantFacts(context),
    ...figureFacts(context),
    ...systemFacts(context),
    ...observingFacts(context),
  };
}

/** Answers every operation of the API. */
export function apiHandlers(context: ApiContext, facts: Facts, peers: ApiPeers | undefined): Handlers {
  return { ...handlersOf(facts, peers), ...publishHandlers(context) };
}
