import type { Awaitable, Subscription } from '@apus/broker';
import { matches } from '@apus/mqtt';
import { listAt, mapped, type Part, type Slice, valueAt } from '../handler.ts';
import type { SubscriptionLine, TopicLine } from '../schemas/clients.ts';
import { type ClientFacts, noClient } from './clients.ts';

/** A subscription with its client. */
export interface Held {
  readonly clientId: string;
  readonly subscription: Subscription;
}

export interface SubscriptionFacts extends Pick<ClientFacts, 'nodeName'> {
  /** Those that fit, of one client or of all. */
  subscriptions(
    tenant: string,
    clientId: string | undefined,
    fits: (subscription: Subscription) => boolean,
    slice: Slice,
  ): Awaitable<Part<Held>>;
  /** Undefined: there is no such client. */
  subscriptionsOf(tenant: string, clientId: string): Awaitable<readonly Subscription[] | undefined>;
  /** The filters that have subscribers, each once for each process that has one. */
  topicFilters(tenant: string, slice: Slice): Awaitable<Part<string>>;
}

export const subscriptionHandlers = {
  listSubscriptions: listAt(
    'all',
    async (facts: SubscriptionFacts, { tenant, query }, slice): Promise<Part<SubscriptionLine>> => {
      const clientId = query.get('clientid') ?? undefined;
      const found = await facts.subscriptions(tenant, clientId, fitting(query), slice);
      return mapped(found, (held) => lineOf(facts, held));
    },
  ),
  listClientSubscriptions: valueAt(
    'home',
    async (facts: SubscriptionFacts, asked): Promise<readonly SubscriptionLine[]> => {
      const { clientid: clientId = '' } = asked.parameters;
      const found = await facts.subscriptionsOf(asked.tenant, clientId);
      if (found === undefined) throw noClient(asked);
      return found.map((subscription) => lineOf(facts, { clientId, subscription }));
    },
  ),
  listTopics: listAt('all', async (facts: SubscriptionFacts, { tenant }, slice): Promise<Part<TopicLine>> => {
    const found = await facts.topicFilters(tenant, slice);
    return mapped(found, (topic) => ({ topic, node: facts.nodeName }));
  }),
};

/** By `topic` (the filter), `match_topic` (a topic that it matches), `qos` and `share_group`, as in EMQX. */
function fitting(query: URLSearchParams): (subscription: Subscription) => boolean {
  const [filter, topic] = [query.get('topic'), query.get('match_topic')];
  const [qos, group] = [query.get('qos'), query.get('share_group')];
  return (subscription) => {
    const { topicFilter, shareGroup, qos: granted } = subscription;
    if (filter !== null && topicFilter !== filter && filterOf(subscription) !== filter) return false;
    if (topic !== null && !matches(topicFilter, topic)) return false;
    return (qos === null || String(granted) === qos) && (group === null || shareGroup === group);
  };
}

/** The filter as its client has named it. */
export function filterOf({ shareGroup, topicFilter }: Subscription): string {
  return shareGroup === undefined ? topicFilter : `$share/${shareGroup}/${topicFilter}`;
}

/** EMQX's names; `id` is the Subscription Identifier. */
function lineOf(
  { nodeName }: Pick<ClientFacts, 'nodeName'>,
  { clientId, subscription }: Held,
): SubscriptionLine {
  const { qos, noLocal, retainAsPublished, subscriptionIdentifier } = subscription;
  return {
    node: nodeName,
    clientid: clientId,
    topic: filterOf(subscription),
    qos,
    nl: noLocal ? 1 : 0,
    rap: retainAsPublished ? 1 : 0,
    id: subscriptionIdentifier ?? null,
  };
}
