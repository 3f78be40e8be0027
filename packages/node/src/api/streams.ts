import {
  formatPosition,
  parsePosition,
  type StreamDeclaration,
  type StreamEntry,
  type StreamTopicTail,
} from '@apus/broker';
import { containsWildcard, matches, validateTopicName } from '@apus/mqtt';
import { TENANT } from '../auth/anonymous.ts';
import { type ApiAnswer, badRequest, refusal } from './answer.ts';
import { type ApiContext, rfc3339 } from './context.ts';
import { LIMIT_MAX } from './paging.ts';
import type { ApiRequest, ApiRoute } from './router.ts';

const LIMIT_DEFAULT = 100;

/** Bytes of a page at most: payloads are in it. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Streams, and the messages of one topic of a stream. */
export function streamRoutes(context: ApiContext): readonly ApiRoute[] {
  return [
    { method: 'GET', path: '/streams', handle: () => list(context) },
    { method: 'GET', path: '/streams/:name/messages', handle: (request) => messages(context, request) },
  ];
}

async function list({ streams, stores }: ApiContext): Promise<ApiAnswer> {
  const data: object[] = [];
  for (const stream of streams?.all ?? [])
    data.push(describeStream(stream, await stores.streamStore.figures(TENANT, stream)));
  return { status: 200, body: { data } };
}

function describeStream(stream: StreamDeclaration, figures: object): object {
  return {
    name: stream.name,
    topic_filter: stream.topicFilter,
    keep_seconds: stream.keepSeconds,
    messages_max: stream.messagesMax,
    bytes_max: stream.bytesMax,
    topics_max: stream.topicsMax,
    key: stream.key ?? null,
    snapshot: stream.snapshot,
    ...figures,
  };
}

/** What a topic holds. */
interface TopicLog extends StreamTopicTail {
  readonly firstKept: number;
}

/** A question about one topic. */
interface Question {
  readonly stream: StreamDeclaration;
  readonly topic: string;
  readonly since: string | null;
  readonly limit: number;
  readonly isReverse: boolean;
}

async function messages(context: ApiContext, request: ApiRequest): Promise<ApiAnswer> {
  const question = questionOf(context, request);
  if ('status' in question) return question;
  const { stream, topic } = question;
  const nowMs = context.clock.now();
  // A look does not open a topic.
  const [tail] = await context.stores.streamStore.topics(TENANT, stream, topic, 1, nowMs);
  if (tail === undefined || typeof tail === 'string') return answerOf([], undefined);
  const kept = await context.stores.streamStore.firstKept(TENANT, stream, tail, 1, nowMs);
  const log: TopicLog = { ...tail, firstKept: kept };
  const after = await afterOf(context, question, log, nowMs);
  if (typeof after !== 'number') return after;
  return question.isReverse
    ? await backward(context, question, log, after)
    : await forward(context, question, log, after);
}

function questionOf({ streams }: ApiContext, { parameters, query }: ApiRequest): Question | ApiAnswer {
  const stream = streams?.named(parameters.name ?? '');
  if (stream === undefined) return refusal(404, 'NOT_FOUND', `There is no stream "${parameters.name}".`);
  const topic = query.get('topic') ?? stream.topicFilter;
  if (containsWildcard(topic) || validateTopicName(topic) !== undefined)
    return badRequest(`topic is the name of a topic of this stream, which keeps ${stream.topicFilter}.`);
  if (!matches(stream.topicFilter, topic))
    return badRequest(`The stream ${stream.name} keeps ${stream.topicFilter}, and not ${topic}.`);
  const limit = query.get('limit') ?? String(LIMIT_DEFAULT);
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > LIMIT_MAX)
    return badRequest(`limit is a whole number from 1 to ${LIMIT_MAX}.`);
  const reverse = query.get('reverse') ?? 'false';
  if (reverse !== 'true' && reverse !== 'false') return badRequest('reverse is true or false.');
  const since = query.get('since');
  return { stream, topic, since, limit: Number(limit), isReverse: reverse === 'true' };
}

/**
 * Number of the message before the first one that is meant, when read forward; backward, of the last one that is meant.
 */
async function afterOf(
  { stores }: ApiContext,
  { stream, since, isReverse }: Question,
  tail: TopicLog,
  nowMs: number,
): Promise<number | ApiAnswer> {
  if (since === null) return isReverse ? tail.last : tail.firstKept - 1;
  const position = parsePosition(since);
  if (position !== undefined) {
    const { epoch, number } = position;
    const isKnown = epoch === tail.epoch && number <= tail.last && number + 1 >= tail.firstKept;
    if (isKnown) return isReverse ? number - 1 : number;
    const message = `Messages behind ${since} are not kept, or its epoch is over. The newest is ${formatPosition({ ...tail, number: tail.last })}.`;
    return refusal(410, 'POSITION_LOST', message);
  }
  const tsMs = /^\d{1,15}$/.test(since) ? Number(since) : Date.parse(since);
  if (Number.isNaN(tsMs))
    return badRequest('since is a position as EPOCH-N, milliseconds since 1970, or a time.');
  const { number } = await stores.streamStore.since(TENANT, stream, tail, tsMs, nowMs);
  return number - 1;
}

async function forward(
  { stores }: ApiContext,
  { topic, limit }: Question,
  { epoch, last }: TopicLog,
  after: number,
): Promise<ApiAnswer> {
  const page = await stores.streamStore.read(TENANT, topic, epoch, after, {
    messages: limit,
    bytes: PAGE_BYTES,
  });
  if (page === 'lost') return refusal(410, 'POSITION_LOST', 'These messages are not kept any more.');
  const end = page.at(-1);
  return answerOf(page, end !== undefined && end.number < last ? end : undefined);
}

/** A page that is too large for its bytes is read again with half of its messages: the newest ones come first. */
async function backward(
  { stores }: ApiContext,
  { topic, limit }: Question,
  { epoch, firstKept }: TopicLog,
  upTo: number,
): Promise<ApiAnswer> {
  for (let count = Math.min(limit, upTo - firstKept + 1); count > 0; count = Math.floor(count / 2)) {
    const bounds = { messages: count, bytes: PAGE_BYTES };
    const page = await stores.streamStore.read(TENANT, topic, epoch, upTo - count, bounds);
    if (page === 'lost') return refusal(410, 'POSITION_LOST', 'These messages are not kept any more.');
    if (page.length < count) continue;
    const oldest = page[0];
    return answerOf(
      [...page].reverse(),
      oldest !== undefined && oldest.number > firstKept ? oldest : undefined,
    );
  }
  return answerOf([], undefined);
}

/** `next` is `since` of the next page. */
function answerOf(entries: readonly StreamEntry[], next: StreamEntry | undefined): ApiAnswer {
  const meta = { next: next === undefined ? null : formatPosition(next) };
  return { status: 200, body: { data: entries.map(describe), meta } };
}

function describe(entry: StreamEntry): object {
  const { message, tsMs, key } = entry;
  return {
    position: formatPosition(entry),
    ts: tsMs,
    published_at: rfc3339(tsMs),
    key: key ?? null,
    topic: message.topic,
    qos: message.qos,
    payload: Buffer.from(message.payload).toString('base64'),
    content_type: message.properties.contentType ?? null,
  };
}
