import type { TopicIndex } from './topic-index.ts';
import type { TopicNode } from './topic-node.ts';

/** What a search has found. */
export interface SearchResult {
  /** Topics that match. */
  readonly topics: number;
  readonly matches: ReadonlySet<TopicNode>;
  /** The nodes above those that match, which are shown for their sake. */
  readonly above: ReadonlySet<TopicNode>;
}

/** Finds text in topic names, in either case; with `+` or `#` as a level it is a topic filter. */
export function searchTopics(index: TopicIndex, query: string): SearchResult {
  const fits = matcherOf(query);
  const matches = new Set<TopicNode>();
  const above = new Set<TopicNode>();
  for (const node of index.topics()) {
    if (!fits(node.topic ?? '')) continue;
    matches.add(node);
    for (let up = node.parent; up !== undefined && !above.has(up); up = up.parent) above.add(up);
  }
  return { topics: matches.size, matches, above };
}

function matcherOf(query: string): (topic: string) => boolean {
  const levels = query.split('/');
  if (levels.some((level) => level === '+' || level === '#')) return (topic) => fitsFilter(levels, topic);
  const text = query.toLowerCase();
  return (topic) => topic.toLowerCase().includes(text);
}

/** Whether a topic filter's levels match a topic name (4.7). `$`-topics hide from wildcards in front (4.7.2). */
function fitsFilter(levels: readonly string[], topic: string): boolean {
  const first = levels[0];
  if (topic.startsWith('$') && (first === '+' || first === '#')) return false;
  const names = topic.split('/');
  for (const [index, level] of levels.entries()) {
    if (level === '#') return true;
    const name = names[index];
    if (name === undefined || (level !== '+' && level !== name)) return false;
  }
  return names.length === levels.length;
}
