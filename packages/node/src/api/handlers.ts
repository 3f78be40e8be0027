import type { Facts } from '@apus/api';
import { heldFacts } from '@apus/door';
import type { ApiPeers } from '../cluster.ts';
import { samplesOf } from '../metrics/prometheus.ts';
import { tenantFacts } from './administration.ts';
import { handlersOf } from './answers.ts';
import type { ApiContext } from './context.ts';
import { observingFacts } from './observing.ts';
import { publishHandlers } from './publish.ts';
import type { Handlers } from './router.ts';
import { systemFacts } from './systems.ts';

/** What this process can answer. */
export function factsOf(context: ApiContext): Facts {
  return {
    ...heldFacts(context),
    samples: () => samplesOf(context),
    ...tenantFacts(context),
    ...systemFacts(context),
    ...observingFacts(context),
  };
}

/** Answers every operation of the API. */
export function apiHandlers(context: ApiContext, facts: Facts, peers: ApiPeers | undefined): Handlers {
  return { ...handlersOf(facts, peers), ...publishHandlers(context) };
}
