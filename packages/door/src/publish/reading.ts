import {
  ApiProblem,
  type Asked,
  LIMIT_MAX,
  problemOf,
  queryProblem,
  type ReadingFacts,
  readingHandlers,
} from '@apus/api';
import type { Authorizer, Identity } from '@apus/broker';
import { type HttpAnswer, type HttpRequest, jsonAnswer, problem, tooManyRequests } from '../http.ts';
import type { RequestLimiter } from '../request-limiter.ts';
import { type Authenticate, keyOfCaller } from './callers.ts';

const STREAMS_PATH = '/api/v5/streams';
// As in the HTTP API, an empty part stands in the query.
const MESSAGES_PATH = /^\/api\/v5\/streams\/([^/]*)\/messages$/;
const PRESENCE_PATH = /^\/api\/v5\/presence\/([^/]*)$/;
const QUERY_CHARACTERS_MAX = 4_096;

export interface ReadingOptions {
  readonly authenticate: Authenticate;
  readonly authorizer: Authorizer;
  /** Reading costs more than publishing: it has limits of its own. */
  readonly limiter: Pick<RequestLimiter, 'take'>;
  readonly facts: ReadingFacts;
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
    try {
      return jsonAnswer(200, await answer(options, caller, request.path, new URLSearchParams(query)));
    } catch (error) {
      const found = problemOf(error);
      if (found === undefined) throw error;
      return problem(found.code, found.message);
    }
  };
}

/** @throws {ApiProblem} */
async function answer(
  options: ReadingOptions,
  caller: Identity,
  path: string,
  query: URLSearchParams,
): Promise<unknown> {
  const room = PRESENCE_PATH.exec(path)?.[1];
  const stream = MESSAGES_PATH.exec(path)?.[1];
  const repeated = queryProblem(query);
  if (repeated !== undefined) throw new ApiProblem('BAD_REQUEST', repeated);
  const named = decoded(room ?? stream ?? '');
  const name = named === '' ? (query.get(room === undefined ? 'name' : 'room') ?? '') : named;
  if (name === undefined) throw new ApiProblem('BAD_REQUEST', 'The path is not percent-encoded UTF-8.');
  const facts = { ...options.facts, forbids: (filter: string) => forbids(options, caller, filter) };
  const asked = { tenant: caller.tenant, parameters: { name, room: name }, query, json: () => undefined };
  if (room !== undefined) return await members(facts, asked);
  if (stream !== undefined) return await readingHandlers.listStreamMessages.answer(facts, asked);
  return await readingHandlers.listStreams.answer(facts, asked);
}

/** As many members as there may be in an answer, unless the request says otherwise. */
async function members(facts: ReadingFacts, asked: Asked): Promise<unknown> {
  const limit = asked.query.get('limit') ?? String(LIMIT_MAX);
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > LIMIT_MAX)
    throw new ApiProblem('BAD_REQUEST', `limit is a whole number from 1 to ${LIMIT_MAX}.`);
  const slice = { from: 0, limit: Number(limit), after: asked.query.get('after') ?? undefined };
  const { entries: data, next } = await readingHandlers.listMembers.part(facts, asked, slice);
  return { data, meta: { limit: slice.limit, hasnext: next !== undefined, next: next ?? null } };
}

async function forbids(
  { authorizer }: ReadingOptions,
  caller: Identity,
  filter: string,
): Promise<string | undefined> {
  const may = await authorizer.maySubscribe(caller, '', filter, { qos: 0, shareGroup: undefined });
  return may ? undefined : `${caller.name} may not subscribe to ${JSON.stringify(filter)}.`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
