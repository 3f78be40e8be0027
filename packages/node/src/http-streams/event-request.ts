import { ApiProblem } from '@apus/api';
import { parseStreamFilter, type StreamDeclarations, StreamProperty } from '@apus/broker';
import {
  containsWildcard,
  intersects,
  matches,
  parseTopicFilter,
  type UserProperties,
  Violation,
} from '@apus/mqtt';
import { type EventPositions, readEventId } from './event-positions.ts';

/** Topic filters of an event stream. Each is a subscription. */
export const EVENT_FILTERS_MAX = 20;

/** A topic filter of an event stream. */
export interface EventFilter {
  /** As the client has given it. */
  readonly requested: string;
  /** The plain filter, where one stream keeps everything that it matches; otherwise its messages have no positions. */
  readonly read: string | undefined;
}

/** The request of an event stream. */
export interface EventRequest {
  readonly filters: readonly EventFilter[];
  /** The topic, where the client reads one alone. */
  readonly onlyTopic: string | undefined;
  /** Where the client has been before. `unknown`: it has been somewhere. Undefined: it comes for the first time. */
  readonly since: ReadonlyMap<string, string> | 'unknown' | undefined;
}

export interface EventRequestContext {
  readonly streams: StreamDeclarations | undefined;
  readonly topicLevelsMax: number;
}

/**
 * @param query in which `+` is the wildcard, and no space
 * @param lastEventId the header `Last-Event-ID`
 * @throws {ApiProblem}
 */
export function readEventRequest(
  query: string,
  lastEventId: string | undefined,
  context: EventRequestContext,
): EventRequest {
  const topics = new URLSearchParams(query.replaceAll('+', '%2B')).getAll('topic');
  if (topics.length === 0)
    throw new ApiProblem('BAD_REQUEST', 'Name a topic filter: ?topic=news/%23 (once for each filter).');
  if (topics.length > EVENT_FILTERS_MAX)
    throw new ApiProblem('TOO_MANY', `At most ${EVENT_FILTERS_MAX} topic filters, not ${topics.length}.`);
  const filters = topics.map((topic) => readFilter(topic, context));
  const read = filters.flatMap((filter) => filter.read ?? []);
  for (const [index, one] of read.entries()) {
    const other = read.slice(0, index).find((each) => intersects(each, one));
    if (other === undefined) continue;
    const both = `${JSON.stringify(other)} and ${JSON.stringify(one)}`;
    throw new ApiProblem('BAD_REQUEST', `${both} have topics of a stream in common: leave one out.`);
  }
  const [only = ''] = read;
  const onlyTopic = filters.length === 1 && read.length === 1 && !containsWildcard(only) ? only : undefined;
  const since = lastEventId ? (readEventId(lastEventId, onlyTopic) ?? 'unknown') : undefined;
  return { filters, onlyTopic, since };
}

function readFilter(requested: string, { streams, topicLevelsMax }: EventRequestContext): EventFilter {
  const parsed =
    parseStreamFilter(requested, streams && { declared: streams }) ??
    parseTopicFilter(requested, { topicLevelsMax });
  if (parsed instanceof Violation)
    throw new ApiProblem('BAD_REQUEST', `topic=${JSON.stringify(requested)} is refused: ${parsed.reason}.`);
  if ('stream' in parsed) return { requested, read: parsed.topicFilter };
  return { requested, read: streams?.coveringFilter(requested) && requested };
}

/** Where the subscription to a filter begins: behind what its client has seen, or now. */
export function startOf({ requested, read }: EventFilter, since: EventRequest['since']): UserProperties {
  if (read === undefined) return [];
  if (since === undefined || since === 'unknown')
    // A stream by its name begins with its last values, where it keeps them.
    return requested === read ? [[StreamProperty.offset, 'latest']] : [];
  const seen = [...since].filter(([topic]) => matches(read, topic));
  if (seen.length === 0) return [[StreamProperty.offset, 'earliest']];
  const isOne = !containsWildcard(read);
  return seen.map(([topic, position]) => [
    StreamProperty.position,
    isOne ? position : `${position} ${topic}`,
  ]);
}

/** Notes where a subscription to a stream has begun. */
export function notePositions(
  positions: EventPositions,
  { read = '' }: EventFilter,
  told: UserProperties,
): void {
  // The position after which history begins comes behind the newest one, and counts.
  for (const name of [StreamProperty.position, StreamProperty.after])
    for (const [each, value] of told) {
      if (each !== name) continue;
      const space = value.indexOf(' ');
      if (space === -1) positions.set(read, value);
      else positions.set(value.slice(space + 1), value.slice(0, space));
    }
}
