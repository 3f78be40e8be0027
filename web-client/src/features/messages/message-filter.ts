import { matches, validateTopicFilter } from '@apus/mqtt/topic';
import type { LoggedMessage } from '../../engine/types.ts';

/** How the query is searched in a payload. */
export type QueryKind = 'text' | 'regex' | 'jsonpath';

/** The filter of the shown messages. */
export interface MessageFilter {
  readonly direction: 'all' | 'received' | 'published';
  /** A topic filter if it has wildcards or is a whole topic; otherwise a part of the topic. */
  readonly topic: string;
  readonly kind: QueryKind;
  readonly query: string;
  readonly subscriptionId: string | undefined;
  readonly retainedOnly: boolean;
}

export const NO_FILTER: MessageFilter = {
  direction: 'all',
  topic: '',
  kind: 'text',
  query: '',
  subscriptionId: undefined,
  retainedOnly: false,
};

export type Predicate = (message: LoggedMessage) => boolean;

/** Reads a JSONPath query. Throws an error that names the problem. */
export type JsonPathQuery = (query: string) => Predicate;

/** A filter that can be applied, or the error in it. */
export type CompiledFilter =
  | { readonly predicate: Predicate | undefined; readonly problem: undefined }
  | { readonly predicate: undefined; readonly problem: string };

/**
 * Characters of a payload that a query searches: the time of a careless expression grows with the length of its text.
 */
export const QUERIED_CHARACTERS_MAX = 65_536;

/**
 * @param jsonPath undefined until it is loaded: until then no message matches a JSONPath query
 * @returns a predicate, undefined if everything is shown, or the error in the query
 */
export function compileFilter(filter: MessageFilter, jsonPath?: JsonPathQuery): CompiledFilter {
  const { direction, topic, subscriptionId, retainedOnly } = filter;
  const parts: Predicate[] = [];
  if (direction !== 'all') parts.push((message) => message.direction === direction);
  if (subscriptionId !== undefined)
    parts.push(({ subscriptionIds }) => subscriptionIds.includes(subscriptionId));
  if (retainedOnly) parts.push(({ retain }) => retain);
  if (topic !== '') parts.push(topicPredicate(topic));
  try {
    const query = queryPredicate(filter, jsonPath);
    if (query !== undefined) parts.push(query);
  } catch (error) {
    return { predicate: undefined, problem: error instanceof Error ? error.message : String(error) };
  }
  if (parts.length === 0) return { predicate: undefined, problem: undefined };
  return { predicate: (message) => parts.every((part) => part(message)), problem: undefined };
}

function topicPredicate(text: string): Predicate {
  if (/[+#]/.test(text) && validateTopicFilter(text) === undefined) {
    return ({ topic }) => matches(text, topic);
  }
  const lower = text.toLowerCase();
  return ({ topic }) => topic.toLowerCase().includes(lower);
}

function queryPredicate(
  { kind, query }: MessageFilter,
  jsonPath: JsonPathQuery = () => () => false,
): Predicate | undefined {
  if (query.trim() === '') return undefined;
  if (kind === 'jsonpath') return jsonPath(query.trim());
  if (kind === 'regex') {
    const expression = new RegExp(query, 'u');
    return (message) => expression.test(message.text(QUERIED_CHARACTERS_MAX));
  }
  const lower = query.toLowerCase();
  return (message) => message.text(QUERIED_CHARACTERS_MAX).toLowerCase().includes(lower);
}
