import { type Authorizer, type Clock, type Identity, presenceTopic, type Streams } from '@apus/broker';
import { containsWildcard, validateTopicName } from '@apus/mqtt';
import type { DynamoPresence } from '@apus/store-dynamodb';
import { listMembers, MEMBERS_MAX } from '../operator/members.ts';
import { listStreams } from '../streams/list.ts';
import { streamMessages } from '../streams/messages.ts';
import { fieldsOfQuery, PAGE_BYTES, readQuestion, StreamQuestionError } from '../streams/question.ts';
import { type Authenticate, keyOfCaller } from './callers.ts';
import { type HttpAnswer, type HttpRequest, jsonAnswer, problem, tooManyRequests } from './http.ts';
import type { RequestLimiter } from './request-limiter.ts';

const STREAMS_PATH = '/api/v5/streams';
const MESSAGES_PATH = /^\/api\/v5\/streams\/([^/]+)\/messages$/;
const PRESENCE_PATH = /^\/api\/v5\/presence\/([^/]+)$/;
const QUERY_CHARACTERS_MAX = 4_096;

export interface ReadingOptions {
  readonly authenticate: Authenticate;
  readonly authorizer: Authorizer;
  /** Reading costs more than publishing: it has limits of its own. */
  readonly limiter: Pick<RequestLimiter, 'take'>;
  readonly clock: Clock;
  /** Undefined where the deployment keeps none. */
  readonly streams: Streams | undefined;
  /** Undefined where the deployment keeps none. */
  readonly presence: DynamoPresence | undefined;
}

export function isReading(path: string): boolean {
  return path === STREAMS_PATH || MESSAGES_PATH.test(path) || PRESENCE_PATH.test(path);
}

/**
 * Streams, their messages, and members of rooms, for backends. A caller is given what it might subscribe to, of its
 * own tenant [SEC-TENANT-1].
 */
export function createReadingEndpoint(
  options: ReadingOptions,
): (request: HttpRequest) => Promise<HttpAnswer> {
  return async (request) => {
    if (request.method !== 'GET')
      return problem('METHOD_NOT_ALLOWED', 'This is read with GET.', { allow: 'GET' });
    const caller = await options.authenticate(request);
    if ('status' in caller) return caller;
    const waitSeconds = options.limiter.take(keyOfCaller(caller));
    if (waitSeconds > 0) return tooManyRequests(waitSeconds);
    const { query = '' } = request;
    if (query.length > QUERY_CHARACTERS_MAX)
      return problem('BAD_REQUEST', `The query has at most ${QUERY_CHARACTERS_MAX} characters.`);
    return await answer(options, caller, request.path, new URLSearchParams(query));
  };
}

async function answer(
  options: ReadingOptions,
  caller: Identity,
  path: string,
  query: URLSearchParams,
): Promise<HttpAnswer> {
  const room = PRESENCE_PATH.exec(path)?.[1];
  const stream = MESSAGES_PATH.exec(path)?.[1];
  const name = decoded(room ?? stream ?? '');
  if (name === undefined) return problem('BAD_REQUEST', 'The path is not percent-encoded UTF-8.');
  if (room !== undefined) return await members(options, caller, name, query);
  if (stream !== undefined) return await messages(options, caller, name, query);
  return await streamList(options, caller);
}

async function streamList(options: ReadingOptions, caller: Identity): Promise<HttpAnswer> {
  const { streams } = options;
  if (streams === undefined) return jsonAnswer(200, { data: [] });
  const all = [];
  for (const each of streams.declared.all)
    if (await maySubscribe(options, caller, each.topicFilter)) all.push(each);
  return jsonAnswer(200, { data: await listStreams({ all }, streams.store, caller.tenant) });
}

async function messages(
  options: ReadingOptions,
  caller: Identity,
  name: string,
  query: URLSearchParams,
): Promise<HttpAnswer> {
  const { streams, clock } = options;
  try {
    const question = readQuestion(streams?.declared, name, fieldsOfQuery(query));
    if (!(await maySubscribe(options, caller, question.topic))) return forbidden(caller, question.topic);
    // `readQuestion` has found the stream, so there are streams.
    const { store } = streams as Streams;
    const reading = { store, tenant: caller.tenant, nowMs: clock.now(), bytesMax: PAGE_BYTES };
    const { messages: data, next } = await streamMessages(reading, question);
    return jsonAnswer(200, { data, meta: { next } });
  } catch (error) {
    if (error instanceof StreamQuestionError) return problem(error.code, error.message);
    throw error;
  }
}

async function members(
  options: ReadingOptions,
  caller: Identity,
  room: string,
  query: URLSearchParams,
): Promise<HttpAnswer> {
  const filter = presenceTopic(room, '+');
  if (room.includes('/') || containsWildcard(room) || validateTopicName(room) !== undefined)
    return problem('BAD_REQUEST', 'A room is one level of a topic.');
  if (!(await maySubscribe(options, caller, filter))) return forbidden(caller, filter);
  if (options.presence === undefined) return problem('NOT_SUPPORTED', 'This deployment keeps no presence.');
  const limit = query.get('limit') ?? String(MEMBERS_MAX);
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MEMBERS_MAX)
    return problem('BAD_REQUEST', `limit is a whole number from 1 to ${MEMBERS_MAX}.`);
  const after = query.get('after') ?? undefined;
  const asked = { action: 'members', tenant: caller.tenant, room, after } as const;
  const { members: data, next } = await listMembers(options.presence, asked, Number(limit));
  const meta = { limit: Number(limit), hasnext: next !== undefined, next: next ?? null };
  return jsonAnswer(200, { data, meta });
}

async function maySubscribe(
  { authorizer }: ReadingOptions,
  caller: Identity,
  topicFilter: string,
): Promise<boolean> {
  return await authorizer.maySubscribe(caller, '', topicFilter, { qos: 0, shareGroup: undefined });
}

function forbidden(caller: Identity, topicFilter: string): HttpAnswer {
  return problem('FORBIDDEN', `${caller.name} may not subscribe to ${JSON.stringify(topicFilter)}.`);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
