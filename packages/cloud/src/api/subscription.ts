import { NODE_NAME } from '@apus/api';
import type { Subscription } from '@apus/broker';

/** A subscription with its client. */
export interface Held {
  readonly clientId: string;
  readonly subscription: Subscription;
}

/** The filter as its client has named it. */
export function filterOf({ shareGroup, topicFilter }: Subscription): string {
  return shareGroup === undefined ? topicFilter : `$share/${shareGroup}/${topicFilter}`;
}

/** EMQX's names; `id` is the Subscription Identifier. */
export function subscriptionOf({ clientId, subscription }: Held): object {
  const { qos, noLocal, retainAsPublished, subscriptionIdentifier } = subscription;
  return {
    node: NODE_NAME,
    clientid: clientId,
    topic: filterOf(subscription),
    qos,
    nl: noLocal ? 1 : 0,
    rap: retainAsPublished ? 1 : 0,
    id: subscriptionIdentifier ?? null,
  };
}
