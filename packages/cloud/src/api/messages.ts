import type { Message } from '@apus/broker';
import { containsWildcard, validateTopicFilter, validateTopicName } from '@apus/mqtt';
import { listMembers } from '../operator/members.ts';
import { answerOfStreams, type StreamsAnswer } from '../operator/streams.ts';
import { type HttpAnswer, problem } from '../publish/http.ts';
import { fieldsOfQuery, PAGE_BYTES } from '../streams/question.ts';
import { ApiProblem } from './api-problem.ts';
import { type ApiContext, type ApiRequest, type Handlers, NO_CONTENT, ok, rfc3339 } from './context.ts';
import { pageAnswer, pagingOf } from './pages.ts';

/** Retained messages, streams and rooms. */
export function messageHandlers(context: ApiContext) {
  return {
    listRetained: (request) => list(context, request),
    getRetained: (request) => one(context, request),
    removeRetained: (request) => remove(context, request),
    listStreams: (request) => streams(context, request),
    listStreamMessages: (request) => streamMessages(context, request),
    listMembers: (request) => members(context, request),
  } satisfies Partial<Handlers>;
}

/** A page may have fewer messages than its limit, although another page follows. */
async function list({ retained, clock }: ApiContext, { tenant, query }: ApiRequest): Promise<HttpAnswer> {
  const { limit, after } = pagingOf(query);
  const filter = query.get('topic') ?? '#';
  const invalid = validateTopicFilter(filter);
  if (invalid !== undefined) throw new ApiProblem('BAD_REQUEST', invalid.reason);
  const wanted = { messages: limit, bytes: PAGE_BYTES };
  const { messages, next } = await retained.match(tenant, filter, clock.now(), after, wanted);
  return pageAnswer(messages.map(describe), { limit }, next);
}

async function one(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const message = await retainedOf(context, request);
  if (message === undefined) return notRetained(request);
  return ok({ ...describe(message), payload: Buffer.from(message.payload).toString('base64') });
}

async function remove(context: ApiContext, request: ApiRequest): Promise<HttpAnswer> {
  const message = await retainedOf(context, request);
  if (message === undefined) return notRetained(request);
  const { retained, environment } = context;
  await retained.delete(request.tenant, message.topic, environment.messageClock.next());
  return NO_CONTENT;
}

/** A name with wildcards in it would be taken for a filter. */
async function retainedOf(
  { retained, clock }: ApiContext,
  { tenant, parameters: { topic = '' } }: ApiRequest,
): Promise<Message | undefined> {
  if (validateTopicName(topic) !== undefined) return undefined;
  const wanted = { messages: 1, bytes: PAGE_BYTES };
  const { messages } = await retained.match(tenant, topic, clock.now(), undefined, wanted);
  return messages[0];
}

function notRetained({ parameters }: ApiRequest): HttpAnswer {
  return problem('NOT_FOUND', `No message is retained for "${parameters.topic}".`);
}

function describe({ id, topic, qos, payload, expiresAtMs }: Message): object {
  const expiresAt = expiresAtMs === undefined ? null : rfc3339(expiresAtMs);
  return { msgid: id, topic, qos, payload_bytes: payload.length, expires_at: expiresAt };
}

async function streams(context: ApiContext, { tenant }: ApiRequest): Promise<HttpAnswer> {
  const asked = { action: 'streams', tenant } as const;
  const { streams: data } = (await answerOfStreams(context.streams, context.clock, asked)) as Extract<
    StreamsAnswer,
    { readonly streams: unknown }
  >;
  return ok({ data });
}

async function streamMessages(
  context: ApiContext,
  { tenant, parameters, query }: ApiRequest,
): Promise<HttpAnswer> {
  const asked = {
    action: 'stream-messages',
    tenant,
    name: parameters.name,
    fields: fieldsOfQuery(query),
  } as const;
  const { messages: data, next } = (await answerOfStreams(context.streams, context.clock, asked)) as Extract<
    StreamsAnswer,
    { readonly messages: unknown }
  >;
  return ok({ data, meta: { next } });
}

async function members(
  { presence }: ApiContext,
  { tenant, parameters: { room = '' }, query }: ApiRequest,
): Promise<HttpAnswer> {
  const { limit, after } = pagingOf(query);
  if (room.includes('/') || containsWildcard(room) || validateTopicName(room) !== undefined)
    throw new ApiProblem('BAD_REQUEST', 'A room is one level of a topic.');
  if (presence === undefined)
    throw new ApiProblem('NOT_SUPPORTED', 'This deployment keeps no presence: deploy it with --presence.');
  const { members: data, next } = await listMembers(
    presence,
    { action: 'members', tenant, room, after },
    limit,
  );
  return pageAnswer(data, { limit }, next);
}
