import type { Observed, ObservingFacts } from '@apus/api';
import { slowest } from '@apus/door';
import type { ApiContext } from './context.ts';

/** What this process remembers, and which of its clients are behind. */
export function observingFacts(context: ApiContext): Pick<ObservingFacts, 'observed'> {
  const { observer, drops } = context;
  const { events, alarms, traces } = observer;
  const observed: Observed = {
    slowest: (tenant, limit) => slowest(context, tenant, limit),
    dropping: (tenant, limit) => drops.most(tenant, limit),
    latest: (seconds) => observer.latest(seconds),
    events: (tenant, clientId, limit) => events.newest(tenant, clientId, limit),
    alarms: (isActive) => alarms.list(isActive),
    clearAlarms: () => alarms.clearPast(),
    traces: (tenant) => traces.list(tenant),
    startTrace: (tenant, question) => traces.start(tenant, question),
    removeTrace: (tenant, name) => traces.remove(tenant, name),
    readTrace: (tenant, name, position) => traces.read(tenant, name, position),
  };
  return { observed: () => observed };
}
