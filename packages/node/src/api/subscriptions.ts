import type { SessionRecord, Subscription } from '@apus/broker';
import { matches } from '@apus/mqtt';
import type { ApiAnswer } from './answer.ts';
import { notFound, recordsOf } from './clients.ts';
import { type ApiContext, NODE_NAME } from './context.ts';
import { isAnswer, pageAnswer, pageOf, pagingOf } from './paging.ts';
import type { ApiRequest, Handlers } from './router.ts';

interface Held {
  readonly record: SessionRecord;
  readonly subscription: Subscription;
}

export function subscriptionHandlers(context: ApiContext) {
  return {
    listSubscriptions: (request) => list(context, request),
    listClientSubscriptions: (request) => ofClient(context, request),
    listTopics: (request) => topics(context, request),
  } satisfies Partial<Handlers>;
}

async function list(context: ApiContext, { tenant, query }: ApiRequest): Promise<ApiAnswer> {
  const paging = pagingOf(query);
  if (isAnswer(paging)) return paging;
  const { entries, count } = pageOf(fitting(held(context, tenant), query), paging);
  return pageAnswer(entries.map(describe), paging, count);
}

async function ofClient(context: ApiContext, { tenant, parameters }: ApiRequest): Promise<ApiAnswer> {
  const record = await context.stores.sessions.get(tenant, parameters.clientid ?? '');
  if (record === undefined) return notFound(parameters.clientid);
  const subscriptions = await context.stores.subscriptions.list(record.session);
  return { status: 200, body: subscriptions.map((subscription) => describe({ record, subscription })) };
}

/** The filters that have subscribers, each once. */
async function topics(context: ApiContext, { tenant, query }: ApiRequest): Promise<ApiAnswer> {
  const paging = pagingOf(query);
  if (isAnswer(paging)) return paging;
  const filters = new Set(held(context, tenant).map(({ subscription }) => nameOf(subscription)));
  const { entries, count } = pageOf(filters, paging);
  return pageAnswer(
    entries.map((topic) => ({ topic, node: NODE_NAME })),
    paging,
    count,
  );
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
function describe({ record, subscription }: Held): object {
  const { qos, noLocal, retainAsPublished, subscriptionIdentifier } = subscription;
  return {
    node: NODE_NAME,
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
