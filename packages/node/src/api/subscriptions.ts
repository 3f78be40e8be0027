import type { SessionRecord, Subscription } from '@apus/broker';
import { matches } from '@apus/mqtt';
import type { ApiAnswer } from './answer.ts';
import { notFound, recordsOf } from './clients.ts';
import type { ApiContext } from './context.ts';
import { type Slice, sliceOf, type Window } from './paging.ts';
import type { Handlers } from './router.ts';
import { type Asked, ofClient, ofList } from './shared-handlers.ts';

interface Held {
  readonly record: SessionRecord;
  readonly subscription: Subscription;
}

export function subscriptionHandlers(context: ApiContext) {
  return {
    listSubscriptions: ofList((asked, slice) => list(context, asked, slice)),
    listClientSubscriptions: ofClient((asked) => listOf(context, asked)),
    listTopics: ofList((asked, slice) => topics(context, asked, slice)),
  } satisfies Partial<Handlers>;
}

function list(context: ApiContext, { tenant, query }: Asked, slice: Slice): Window {
  const { entries, count } = sliceOf(fitting(held(context, tenant), query), slice);
  return { entries: entries.map((each) => describe(context, each)), count };
}

async function listOf(context: ApiContext, { tenant, parameters }: Asked): Promise<ApiAnswer> {
  const record = await context.stores.sessions.get(tenant, parameters.clientid ?? '');
  if (record === undefined) return notFound(parameters.clientid);
  const subscriptions = await context.stores.subscriptions.list(record.session);
  return {
    status: 200,
    body: subscriptions.map((subscription) => describe(context, { record, subscription })),
  };
}

/** The filters that have subscribers, each once for each process that has one. */
function topics(context: ApiContext, { tenant }: Asked, slice: Slice): Window {
  const filters = new Set(held(context, tenant).map(({ subscription }) => nameOf(subscription)));
  const { entries, count } = sliceOf(filters, slice);
  return { entries: entries.map((topic) => ({ topic, node: context.nodeName })), count };
}

function held(context: ApiContext, tenant: string): readonly Held[] {
  const all: Held[] = [];
  for (const record of recordsOf(context, tenant)) {
    for (const subscription of context.stores.subscriptions.list(record.session))
      all.push({ record, subscription });
  }
  return all;
}

/** By `clientid`, `topic` (the filter), `match_topic` (a topic that it matches), `qos` and `share_group`, as in EMQX. */
function* fitting(all: readonly Held[], query: URLSearchParams): Generator<Held> {
  const [clientId, filter, topic] = [query.get('clientid'), query.get('topic'), query.get('match_topic')];
  const [qos, group] = [query.get('qos'), query.get('share_group')];
  for (const one of all) {
    const { topicFilter, shareGroup, qos: granted } = one.subscription;
    if (clientId !== null && one.record.session.clientId !== clientId) continue;
    if (filter !== null && topicFilter !== filter && nameOf(one.subscription) !== filter) continue;
    if (topic !== null && !matches(topicFilter, topic)) continue;
    if (qos !== null && String(granted) !== qos) continue;
    if (group !== null && shareGroup !== group) continue;
    yield one;
  }
}

/** EMQX's names; `id` is the Subscription Identifier. */
function describe({ nodeName }: ApiContext, { record, subscription }: Held): object {
  const { qos, noLocal, retainAsPublished, subscriptionIdentifier } = subscription;
  return {
    node: nodeName,
    clientid: record.session.clientId,
    topic: nameOf(subscription),
    qos,
    nl: noLocal ? 1 : 0,
    rap: retainAsPublished ? 1 : 0,
    id: subscriptionIdentifier ?? null,
  };
}

function nameOf({ shareGroup, topicFilter }: Subscription): string {
  return shareGroup === undefined ? topicFilter : `$share/${shareGroup}/${topicFilter}`;
}
