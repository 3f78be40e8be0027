import type { Observed, ObservingFacts, SlowClient } from '@apus/api';
import { messageTimeMs } from '@apus/broker';
import { recordsOf } from './clients.ts';
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

/** Nothing is kept for it while messages pass: it looks at the oldest message of each queue. */
function slowest(context: ApiContext, tenant: string, limit: number): readonly SlowClient[] {
  const { queues } = context.stores;
  const slow: SlowClient[] = [];
  for (const { session, attachment } of recordsOf(context, tenant)) {
    const message = queues.oldest(session);
    if (message === undefined) continue;
    slow.push({
      clientid: session.clientId,
      topic: message.topic,
      publishedAtMs: messageTimeMs(message.id),
      connected: attachment !== undefined,
      mqueue_len: queues.length(session),
      inflight_cnt: queues.inflight(session),
    });
  }
  return slow.sort((one, other) => one.publishedAtMs - other.publishedAtMs).slice(0, limit);
}
