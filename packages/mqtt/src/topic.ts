import { TOPIC_BYTES_MAX } from './limits.ts';
import { ReasonCode } from './reason-codes.ts';
import { Violation } from './violation.ts';

export interface TopicLimits {
  /** The most levels a name or filter may have; `a/b` has two. */
  topicLevelsMax?: number;
}

/** A Topic Filter as the broker matches it, and the share group it belongs to if it had one. */
export interface ParsedFilter {
  shareGroup?: string;
  topicFilter: string;
}

export const SLASH = 0x2f;
export const PLUS = 0x2b;
export const HASH = 0x23;
const DOLLAR = 0x24;
const LONE_SURROGATE = /\p{Surrogate}/u;
const SHARE_PREFIX = '$share/';

export function containsWildcard(text: string): boolean {
  return text.includes('+') || text.includes('#');
}

/** The reason why the string is not a Topic Name (4.7), or `undefined`. */
export function validateTopicName(name: string, limits: TopicLimits = {}): Violation | undefined {
  // [MQTT-3.3.2-2]
  const problem = containsWildcard(name) ? 'has no wildcards' : textProblem(name, limits);
  return problem === undefined
    ? undefined
    : violation(ReasonCode.TopicNameInvalid, 'topic name', name, problem);
}

/** The reason why the string is not a Topic Filter (4.7), or `undefined`. A share prefix is for `parseShared`. */
export function validateTopicFilter(filter: string, limits: TopicLimits = {}): Violation | undefined {
  const problem = textProblem(filter, limits) ?? wildcardProblem(filter);
  return problem === undefined
    ? undefined
    : violation(ReasonCode.TopicFilterInvalid, 'topic filter', filter, problem);
}

/** Splits `$share/{group}/{filter}`; any other filter comes back as it is. The filter itself is not validated. */
export function parseShared(filter: string): ParsedFilter | Violation {
  if (!filter.startsWith(SHARE_PREFIX)) return { topicFilter: filter };
  const groupEnd = filter.indexOf('/', SHARE_PREFIX.length);
  const shareGroup = filter.slice(SHARE_PREFIX.length, groupEnd === -1 ? undefined : groupEnd);
  const topicFilter = groupEnd === -1 ? '' : filter.slice(groupEnd + 1);
  const problem = sharedProblem(shareGroup, topicFilter);
  if (problem === undefined) return { shareGroup, topicFilter };
  return violation(ReasonCode.TopicFilterInvalid, 'shared subscription', filter, problem);
}

/** Validates a filter with or without a share prefix and splits it. */
export function parseTopicFilter(filter: string, limits: TopicLimits = {}): ParsedFilter | Violation {
  const parsed = parseShared(filter);
  if (parsed instanceof Violation) return parsed;
  return validateTopicFilter(parsed.topicFilter, limits) ?? parsed;
}

/** Whether a valid Topic Filter matches a valid Topic Name (4.7). Allocates nothing. */
export function matches(filter: string, name: string): boolean {
  if (isHiddenFrom(filter, name)) return false;
  let f = 0;
  let n = 0;
  for (;;) {
    const head = filter.charCodeAt(f);
    if (head === HASH) return true;
    if (head === PLUS) {
      f += 1;
      while (n < name.length && name.charCodeAt(n) !== SLASH) n += 1;
    } else {
      while (f < filter.length && filter.charCodeAt(f) !== SLASH) {
        if (filter.charCodeAt(f) !== name.charCodeAt(n)) return false;
        f += 1;
        n += 1;
      }
    }
    // Both stand at the end of a level, or the level of the name goes on and does not match.
    if (n === name.length) return f === filter.length || isFinalHash(filter, f);
    if (f === filter.length || name.charCodeAt(n) !== SLASH) return false;
    f += 1;
    n += 1;
  }
}

/** A leading wildcard never matches a name that begins with `$` [MQTT-4.7.2-1]. */
export function isHiddenFrom(filter: string, text: string): boolean {
  return text.charCodeAt(0) === DOLLAR && startsWithWildcard(filter);
}

export function startsWithWildcard(filter: string): boolean {
  const first = filter.charCodeAt(0);
  return first === PLUS || first === HASH;
}

/** `sport/#` also matches `sport`: `#` includes the parent level (4.7.1.2). */
export function isFinalHash(filter: string, slash: number): boolean {
  return (
    filter.length === slash + 2 && filter.charCodeAt(slash) === SLASH && filter.charCodeAt(slash + 1) === HASH
  );
}

function textProblem(text: string, limits: TopicLimits): string | undefined {
  if (text.length === 0) return 'has at least one character'; // [MQTT-4.7.3-1]
  if (text.includes('\0')) return 'has no U+0000'; // [MQTT-4.7.3-2]
  if (LONE_SURROGATE.test(text)) return 'is well-formed Unicode'; // [MQTT-1.5.4-1]
  // One UTF-16 unit takes at most three bytes, so most strings need not be counted.
  if (text.length * 3 > TOPIC_BYTES_MAX && new TextEncoder().encode(text).length > TOPIC_BYTES_MAX) {
    return `has at most ${TOPIC_BYTES_MAX} bytes`; // [MQTT-4.7.3-3]
  }
  const levelsMax = limits.topicLevelsMax ?? Number.POSITIVE_INFINITY;
  return levelCount(text) > levelsMax ? `has at most ${levelsMax} levels` : undefined;
}

export function levelCount(text: string): number {
  let levels = 1;
  for (let at = text.indexOf('/'); at !== -1; at = text.indexOf('/', at + 1)) levels += 1;
  return levels;
}

function wildcardProblem(filter: string): string | undefined {
  for (let at = 0; at < filter.length; at += 1) {
    const code = filter.charCodeAt(at);
    if (code !== HASH && code !== PLUS) continue;
    const opens = at === 0 || filter.charCodeAt(at - 1) === SLASH;
    const ends = at === filter.length - 1;
    // [MQTT-4.7.1-1]
    if (code === HASH && !(opens && ends)) return 'has # only as its whole last level';
    // [MQTT-4.7.1-2]
    if (code === PLUS && !(opens && (ends || filter.charCodeAt(at + 1) === SLASH)))
      return 'has + only as a whole level';
  }
  return undefined;
}

function sharedProblem(shareGroup: string, topicFilter: string): string | undefined {
  if (shareGroup === '') return 'names its group'; // [MQTT-4.8.2-1]
  if (containsWildcard(shareGroup)) return 'has no wildcards in the name of its group'; // [MQTT-4.8.2-2]
  if (topicFilter === '') return 'has a topic filter behind its group'; // [MQTT-4.8.2-2]
  return undefined;
}

function violation(reasonCode: number, what: string, text: string, problem: string): Violation {
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  return new Violation(reasonCode, `A ${what} ${problem}: ${JSON.stringify(shown)}`);
}
