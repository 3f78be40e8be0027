import { matches, validateTopicFilter } from '@apus/mqtt/topic';
import type { LoggedMessage } from '../../engine/types.ts';
import type { SlowQuery } from './query-matcher.ts';

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

/** Throws an error that names the mistake in a query. */
export type QueryCheck = (query: string) => void;

/** A filter that can be applied, or the error in it. */
export type CompiledFilter =
  | {
      /** Takes microseconds. */
      readonly predicate: Predicate | undefined;
      /** A worker searches for this among the messages that the predicate leaves. */
      readonly slow: SlowQuery | undefined;
      readonly problem: undefined;
    }
  | { readonly predicate: undefined; readonly slow: undefined; readonly problem: string };

/** Characters of a payload that a query searches: the time of a search grows with the length of its text. */
export const QUERIED_CHARACTERS_MAX = 65_536;

/**
 * @param checkJsonPath undefined until it is loaded
 * @returns a predicate, undefined if everything is shown, or the error in the query
 */
export function compileFilter(filter: MessageFilter, checkJsonPath?: QueryCheck): CompiledFilter {
  const { direction, topic, subscriptionId, retainedOnly, kind, query } = filter;
  const parts: Predicate[] = [];
  if (direction !== 'all') parts.push((message) => message.direction === direction);
  if (subscriptionId !== undefined)
    parts.push(({ subscriptionIds }) => subscriptionIds.includes(subscriptionId));
  if (retainedOnly) parts.push(({ retain }) => retain);
  if (topic !== '') parts.push(topicPredicate(topic));
  const sought = query.trim();
  if (kind === 'text' && sought !== '') parts.push(textPredicate(query));
  const slow = kind === 'text' || sought === '' ? undefined : slowQuery(kind, query);
  try {
    if (slow?.kind === 'regex') new RegExp(slow.query, 'u');
    if (slow?.kind === 'jsonpath') checkJsonPath?.(slow.query);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { predicate: undefined, slow: undefined, problem };
  }
  const predicate: Predicate | undefined =
    parts.length === 0 ? undefined : (message) => parts.every((part) => part(message));
  return { predicate, slow, problem: undefined };
}

function slowQuery(kind: SlowQuery['kind'], query: string): SlowQuery {
  return { kind, query: kind === 'jsonpath' ? query.trim() : query };
}

function topicPredicate(text: string): Predicate {
  if (/[+#]/.test(text) && validateTopicFilter(text) === undefined) {
    return ({ topic }) => matches(text, topic);
  }
  const lower = text.toLowerCase();
  return ({ topic }) => topic.toLowerCase().includes(lower);
}

function textPredicate(query: string): Predicate {
  const lower = query.toLowerCase();
  return (message) => message.text(QUERIED_CHARACTERS_MAX).toLowerCase().includes(lower);
}
