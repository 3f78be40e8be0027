import { ApiProblem, type Facts, type Observed, type UserFacts } from '@apus/api';
import type { UsageLine, UsageQuestion } from '@apus/broker';
import { type ApiSources, heldFacts, slowest } from '@apus/door';

const NO_REGISTER = 'An object keeps no register of tenants: each tenant has an object of its own.';
const NO_HISTORY = 'An object keeps no history: it forgets everything but its records while it sleeps.';
const NO_BREAKER = 'An object has no breaker: quotas bound its clients.';
const NO_TOPICS =
  'An object describes no topics and checks no payloads: its runtime makes no code from the text of a schema.';

/** Everything that a hub answers from. */
export interface HubSources extends ApiSources, UserFacts {
  usage(question: UsageQuestion): readonly UsageLine[];
  /** A message of a backend. */
  published(tenant: string, payload: Uint8Array): void;
}

/** What a hub can answer. Counts begin anew when the object has slept. */
export function hubFacts(sources: HubSources): Facts {
  const observed: Observed = {
    slowest: (tenant, limit) => slowest(sources, tenant, limit),
    dropping: (tenant, limit) => sources.drops.most(tenant, limit),
    ...{ latest: noHistory, events: noHistory, alarms: noHistory, clearAlarms: noHistory },
    ...{ traces: noHistory, startTrace: noHistory, removeTrace: noHistory, readTrace: noHistory },
  };
  return {
    ...heldFacts(sources),
    register: () => refuse('NOT_FOUND', NO_REGISTER),
    tenants: () => refuse('NOT_FOUND', NO_REGISTER),
    users: () => sources.users(),
    usage: (question) => sources.usage(question),
    bridges: () => [],
    rules: () => ({ data: [] }),
    letters: () => undefined,
    breaker: () => refuse('NOT_SUPPORTED', NO_BREAKER),
    asyncApi: () => refuse('NOT_SUPPORTED', NO_TOPICS),
    observed: () => observed,
  };
}

function noHistory(): never {
  return refuse('NOT_SUPPORTED', NO_HISTORY);
}

function refuse(code: 'NOT_FOUND' | 'NOT_SUPPORTED', message: string): never {
  throw new ApiProblem(code, message);
}
