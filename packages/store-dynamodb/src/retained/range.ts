import { containsWildcard } from '@apus/mqtt';
import { retainedEnd, retainedPrefix, retainedSort } from '../table/keys.ts';

export interface SortRange {
  readonly from: string;
  readonly to: string;
}

/** Lower than every sort key of a topic: the empty string is none. */
const FIRST = '\0';

/**
 * Where the topics stand that a filter may match: its own sort key when it has no wildcard, else everything that
 * begins with the levels before its first one. A `#` matches its parent level as well [MQTT-4.7.1-1]: `a` stands just
 * before its subtopics.
 */
export function retainedRange(topicFilter: string): SortRange {
  if (!containsWildcard(topicFilter)) {
    const key = retainedSort(topicFilter);
    return { from: key, to: key };
  }
  const literal = literalLevels(topicFilter);
  if (literal === '') return { from: FIRST, to: retainedEnd('') };
  const prefix = retainedPrefix(literal);
  // A key that was cut for its length may end in the middle of a level.
  const isCut = prefix.length < literal.length;
  return { from: prefix, to: retainedEnd(isCut ? prefix : `${prefix}\0`) };
}

/** `a/b` of `a/b/+/c`. The empty first level of `/+` is none that could narrow a range. */
function literalLevels(topicFilter: string): string {
  const levels = topicFilter.split('/');
  const wildcard = levels.findIndex((level) => level === '+' || level === '#');
  return levels.slice(0, wildcard).join('/');
}
