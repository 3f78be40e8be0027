import type { StreamDeclaration, StreamDeclarations } from '@apus/broker';
import { containsWildcard, matches, validateTopicName } from '@apus/mqtt';
import { ApiProblem } from '../problem.ts';

/** Messages of one page. */
export const MESSAGES_MAX = 1_000;
const MESSAGES_DEFAULT = 100;

/** An answer of a function has at most 6 MB, and payloads are base64 in it. */
export const PAGE_BYTES = 3 * 1024 * 1024;

/** A question about one topic of a stream. */
export interface StreamQuestion {
  readonly stream: StreamDeclaration;
  readonly topic: string;
  /** A position, or a time; undefined: from the end that is read from. */
  readonly since: string | undefined;
  readonly limit: number;
  /** The newest first. */
  readonly isReverse: boolean;
}

/** @throws {ApiProblem} */
export function readQuestion(
  declared: StreamDeclarations | undefined,
  name: unknown,
  fields: Readonly<Record<string, unknown>>,
): StreamQuestion {
  const stream = typeof name === 'string' ? declared?.named(name) : undefined;
  if (stream === undefined) throw new ApiProblem('NOT_FOUND', `There is no stream ${JSON.stringify(name)}.`);
  const { topic = stream.topicFilter, limit = MESSAGES_DEFAULT, reverse = false, since } = fields;
  if (typeof topic !== 'string' || containsWildcard(topic) || validateTopicName(topic) !== undefined)
    throw badQuestion(`topic is the name of a topic of this stream, which keeps ${stream.topicFilter}.`);
  if (!matches(stream.topicFilter, topic))
    throw badQuestion(`The stream ${stream.name} keeps ${stream.topicFilter}, and not ${topic}.`);
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > MESSAGES_MAX)
    throw badQuestion(`limit is a whole number from 1 to ${MESSAGES_MAX}.`);
  if (typeof reverse !== 'boolean') throw badQuestion('reverse is true or false.');
  if (since !== undefined && typeof since !== 'string' && typeof since !== 'number') throw badSince();
  return {
    stream,
    topic,
    since: since === undefined ? undefined : String(since),
    limit: Number(limit),
    isReverse: reverse,
  };
}

/** Fields of a query, which has text alone. */
export function fieldsOfQuery(query: URLSearchParams): Record<string, unknown> {
  const { limit, reverse, ...others } = Object.fromEntries(query);
  return {
    ...others,
    ...(limit !== undefined && { limit: /^\d{1,9}$/.test(limit) ? Number(limit) : limit }),
    ...(reverse !== undefined && { reverse: reverse === 'true' || (reverse === 'false' ? false : reverse) }),
  };
}

export function badQuestion(message: string): ApiProblem {
  return new ApiProblem('BAD_REQUEST', message);
}

export function badSince(): ApiProblem {
  return badQuestion('since is a position as EPOCH-N, milliseconds since 1970, or a time.');
}

export function positionLost(message: string): ApiProblem {
  return new ApiProblem('POSITION_LOST', message);
}
