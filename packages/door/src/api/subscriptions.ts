import { filterOf, type Held, type SubscriptionFacts } from '@apus/api';
import { recordsOf } from './clients.ts';
import { sliceOf } from './paging.ts';
import type { ApiSources } from './sources.ts';

export function subscriptionFacts(sources: ApiSources): Omit<SubscriptionFacts, 'nodeName'> {
  const { stores } = sources;
  return {
    subscriptions(tenant, clientId, fits, slice) {
      const isMeant = (held: Held) =>
        (clientId === undefined || held.clientId === clientId) && fits(held.subscription);
      return sliceOf(heldBy(sources, tenant).filter(isMeant), slice);
    },
    async subscriptionsOf(tenant, clientId) {
      const record = await stores.sessions.get(tenant, clientId);
      return record && (await stores.subscriptions.list(record.session));
    },
    topicFilters(tenant, slice) {
      const held = heldBy(sources, tenant);
      return sliceOf(new Set(held.map(({ subscription }) => filterOf(subscription))), slice);
    },
  };
}

function heldBy(sources: ApiSources, tenant: string): readonly Held[] {
  return [...recordsOf(sources, tenant)].flatMap(({ session }) =>
    sources.stores.subscriptions
      .list(session)
      .map((subscription) => ({ clientId: session.clientId, subscription })),
  );
}
