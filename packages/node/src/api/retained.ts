import type { Message, RetainedPage } from '@apus/broker';
import { validateTopicFilter, validateTopicName } from '@apus/mqtt';
import { type ApiAnswer, badRequest, refusal } from './answer.ts';
import { type ApiContext, rfc3339 } from './context.ts';
import { isAnswer, type Paging, pageAnswer, pagingOf } from './paging.ts';
import type { ApiRequest, Handlers } from './router.ts';

/** The messages that one read of the store returns. */
const PAGE = { messages: 1_000, bytes: Number.POSITIVE_INFINITY } as const;

const ONE = { messages: 1, bytes: Number.POSITIVE_INFINITY } as const;

export function retainedHandlers(context: ApiContext) {
  return {
    listRetained: (request) => list(context, request),
    getRetained: (request) => one(context, request),
    removeRetained: (request) => remove(context, request),
  } satisfies Partial<Handlers>;
}

/** Those whose topics match the filter `?topic=`; without it all but topics that begin with `$`. */
async function list(context: ApiContext, { tenant, query }: ApiRequest): Promise<ApiAnswer> {
  const paging = pagingOf(query);
  if (isAnswer(paging)) return paging;
  const filter = query.get('topic') ?? '#';
  const invalid = validateTopicFilter(filter);
  if (invalid !== undefined) return badRequest(invalid.reason);
  const { entries, count } = await read(context, tenant, filter, paging);
  return pageAnswer(entries.map(describe), paging, count);
}

async function read(
  { stores, clock }: ApiContext,
  tenant: string,
  filter: string,
  { from: first, limit }: Paging,
): Promise<{ readonly entries: readonly Message[]; readonly count: number }> {
  const entries: Message[] = [];
  let count = 0;
  let from: string | undefined;
  do {
    const found: RetainedPage = await stores.retained.match(tenant, filter, clock.now(), from, PAGE);
    const place = Math.max(0, first - count);
    entries.push(...found.messages.slice(place, place + limit - entries.length));
    count += found.messages.length;
    from = found.next;
  } while (from !== undefined);
  return { entries, count };
}

async function one(
  context: ApiContext,
  { tenant, parameters: { topic = '' } }: ApiRequest,
): Promise<ApiAnswer> {
  const message = await retained(context, tenant, topic);
  if (message === undefined) return notFound(topic);
  const payload = Buffer.from(message.payload).toString('base64');
  return { status: 200, body: { ...describe(message), payload } };
}

/** Deletes it as an empty retained message would, except that no subscriber is sent one. */
async function remove(
  context: ApiContext,
  { tenant, parameters: { topic = '' } }: ApiRequest,
): Promise<ApiAnswer> {
  const message = await retained(context, tenant, topic);
  if (message === undefined) return notFound(topic);
  await context.stores.retained.delete(tenant, topic, context.broker.messageClock.next());
  return { status: 204 };
}

/** A name with wildcards in it would be taken for a filter. */
async function retained(
  { stores, clock }: ApiContext,
  tenant: string,
  topic: string,
): Promise<Message | undefined> {
  if (validateTopicName(topic) !== undefined) return undefined;
  const page = await stores.retained.match(tenant, topic, clock.now(), undefined, ONE);
  return page.messages[0];
}

function notFound(topic: string): ApiAnswer {
  return refusal(404, 'NOT_FOUND', `No message is retained for "${topic}".`);
}

/** EMQX's names; only the size of the payload is an addition. */
function describe({ id, topic, qos, payload, expiresAtMs }: Message): object {
  return {
    msgid: id,
    topic,
    qos,
    payload_bytes: payload.length,
    expires_at: expiresAtMs === undefined ? null : rfc3339(expiresAtMs),
  };
}
