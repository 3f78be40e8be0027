import { matches } from '@apus/mqtt/topic';
import type { TopicIndex } from './topic-index.ts';
import type { TopicNode } from './topic-node.ts';

/** The result of a search in the tree. */
export interface SearchResult {
  /** Topics that match. */
  readonly topics: number;
  readonly matches: ReadonlySet<TopicNode>;
  /** The ancestors of matching nodes, which are shown because of them. */
  readonly above: ReadonlySet<TopicNode>;
}

/** Finds text in topic names, in either case; text with `+` or `#` as a level is a topic filter. */
export function searchTopics(index: TopicIndex, query: string): SearchResult {
  const fits = matcherOf(query);
  const found = new Set<TopicNode>();
  const above = new Set<TopicNode>();
  for (const node of index.topics()) {
    if (!fits(node.topic ?? '')) continue;
    found.add(node);
    for (let up = node.parent; up !== undefined && !above.has(up); up = up.parent) above.add(up);
  }
  return { topics: found.size, matches: found, above };
}

function matcherOf(query: string): (topic: string) => boolean {
  if (query.split('/').some((level) => level === '+' || level === '#'))
    return (topic) => matches(query, topic);
  const text = query.toLowerCase();
  return (topic) => topic.toLowerCase().includes(text);
}
