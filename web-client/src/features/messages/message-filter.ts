import { matches, validateTopicFilter } from '@apus/mqtt/topic';
import { compile } from 'json-p3';
import type { LoggedMessage } from '../../engine/types.ts';
import { decodeValue } from '../decode/decode.ts';

/** How the query is looked for in a payload. */
export type QueryKind = 'text' | 'regex' | 'jsonpath';

/** What of the log is shown. */
export interface MessageFilter {
  readonly direction: 'all' | 'received' | 'published';
  /** A topic filter where it has wildcards or is one whole; otherwise a part of the topic. */
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

/** A filter that can be asked, or why it cannot. */
export type CompiledFilter =
  | { readonly predicate: Predicate | undefined; readonly problem: undefined }
  | { readonly predicate: undefined; readonly problem: string };

/** Characters of a payload that a query looks at: a careless expression takes time by the length of its text. */
const QUERIED_CHARACTERS_MAX = 65_536;

/** Comparisons and logic mark a JSONPath query that is an expression and not a path. */
const EXPRESSION = /==|!=|<=|>=|<|>|&&|\|\||^!/;

/** @returns a predicate, undefined where everything is shown, or what is wrong with the query */
export function compileFilter(filter: MessageFilter): CompiledFilter {
  const { direction, topic, subscriptionId, retainedOnly } = filter;
  const parts: Predicate[] = [];
  if (direction !== 'all') parts.push((message) => message.direction === direction);
  if (subscriptionId !== undefined)
    parts.push(({ subscriptionIds }) => subscriptionIds.includes(subscriptionId));
  if (retainedOnly) parts.push(({ retain }) => retain);
  if (topic !== '') parts.push(topicPredicate(topic));
  try {
    const query = queryPredicate(filter);
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

function queryPredicate({ kind, query }: MessageFilter): Predicate | undefined {
  if (query.trim() === '') return undefined;
  if (kind === 'jsonpath') return jsonPathPredicate(query.trim());
  if (kind === 'regex') {
    const expression = new RegExp(query, 'u');
    return (message) => expression.test(message.text(QUERIED_CHARACTERS_MAX));
  }
  const lower = query.toLowerCase();
  return (message) => message.text(QUERIED_CHARACTERS_MAX).toLowerCase().includes(lower);
}

/** `$.a.b` finds what has such a member; `$.a > 5 && $.b == "x"` compares, with the payload as `$`. */
function jsonPathPredicate(query: string): Predicate {
  const isExpression = EXPRESSION.test(query) && !query.includes('?');
  const path = compile(isExpression ? `$[?${withoutRoot(query)}]` : query);
  return (message) => {
    const value = decodeValue(message.payload, QUERIED_CHARACTERS_MAX, message.topic);
    if (value === undefined) return false;
    const root = isExpression ? [value] : value;
    return !path.query(root as Parameters<typeof path.query>[0]).empty();
  };
}

/** In a filter of JSONPath the value that is looked at is `@`. Quoted text stays as it is. */
function withoutRoot(expression: string): string {
  return expression.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$/g, (part) =>
    part === '$' ? '@' : part,
  );
}
