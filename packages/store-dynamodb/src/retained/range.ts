import { containsWildcard } from '@apus/mqtt';
import { retainedEnd, retainedPrefix, retainedSort } from '../table/keys.ts';

export interface SortRange {
  readonly from: string;
  readonly to: string;
}

/** Lower than the sort key of every topic: no topic is empty. */
const FIRST = '\0';

/**
 * The range of topics that a filter may match: its own sort key if it has no wildcard; otherwise everything that
 * begins with the levels before its first wildcard. A `#` matches its parent level as well [MQTT-4.7.1-1]: `a` stands
 * right before its subtopics.
 */
export function retainedRange(topicFilter: string): SortRange {
  if (!containsWildcard(topicFilter)) {
    const key = retainedSort(topicFilter);
    return { from: key, to: key };
  }
  const literal = literalLevels(topicFilter);
  if (literal === '') return { from: FIRST, to: retainedEnd('') };
  const prefix = retainedPrefix(literal);
  // A key that was cut for its length may end within a level.
  const isCut = prefix.length < literal.length;
  return { from: prefix, to: retainedEnd(isCut ? prefix : `${prefix}\0`) };
}

/** `a/b` of `a/b/+/c`. The empty first level of `/+` cannot narrow a range. */
function literalLevels(topicFilter: string): string {
  const levels = topicFilter.split('/');
  const wildcard = levels.findIndex((level) => level === '+' || level === '#');
  return levels.slice(0, wildcard).join('/');
}
