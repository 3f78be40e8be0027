import { filterOf, type Held, type SubscriptionFacts } from '@apus/api';
import { recordsOf } from './clients.ts';
import type { ApiContext } from './context.ts';
import { sliceOf } from './paging.ts';

export function subscriptionFacts(context: ApiContext): Omit<SubscriptionFacts, 'nodeName'> {
  const { stores } = context;
  return {
    subscriptions(tenant, clientId, fits, slice) {
      const isMeant = (held: Held) =>
        (clientId === undefined || held.clientId === clientId) && fits(held.subscription);
      return sliceOf(heldBy(context, tenant).filter(isMeant), slice);
    },
    async subscriptionsOf(tenant, clientId) {
      const record = await stores.sessions.get(tenant, clientId);
      return record && (await stores.subscriptions.list(record.session));
    },
    topicFilters(tenant, slice) {
      const held = heldBy(context, tenant);
      return sliceOf(new Set(held.map(({ subscription }) => filterOf(subscription))), slice);
    },
  };
}

function heldBy(context: ApiContext, tenant: string): readonly Held[] {
  return [...recordsOf(context, tenant)].flatMap(({ session }) =>
    context.stores.subscriptions
      .list(session)
      .map((subscription) => ({ clientId: session.clientId, subscription })),
  );
}
