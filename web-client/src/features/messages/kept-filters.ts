import { flag, membersOf, oneOf, text } from '../../engine/read-members.ts';
import { readStored, writeStored } from '../../state/stored.ts';
import { type MessageFilter, NO_FILTER } from './message-filter.ts';

const KEY = 'apus.filters';

/** Connections whose filters are stored, the newest; and the longest field of one. */
const FILTERS_MAX = 20;
const CHARACTERS_MAX = 4_096;

export type Filters = Readonly<Record<string, MessageFilter>>;

/** The filters of the last visit, by the connection's id. */
export function keptFilters(): Filters {
  const read = membersOf(readStored(KEY)) ?? {};
  return Object.fromEntries(Object.entries(read).map(([id, value]) => [id, readFilter(value)]));
}

/** A filter that is too large is not stored, nor is one that shows everything. */
export function keepFilters(filters: Filters): void {
  const kept = Object.entries(filters)
    .filter(([, { topic, query }]) => topic.length <= CHARACTERS_MAX && query.length <= CHARACTERS_MAX)
    .filter(([, filter]) => filter !== NO_FILTER)
    .slice(-FILTERS_MAX);
  writeStored(KEY, Object.fromEntries(kept));
}

/** @param value perhaps from another version of the page: missing fields have their default */
export function readFilter(value: unknown): MessageFilter {
  const read = membersOf(value) ?? {};
  return {
    direction: oneOf(read.direction, ['received', 'published'] as const) ?? NO_FILTER.direction,
    topic: text(read.topic) ?? NO_FILTER.topic,
    kind: oneOf(read.kind, ['regex', 'jsonpath'] as const) ?? NO_FILTER.kind,
    query: text(read.query) ?? NO_FILTER.query,
    subscriptionId: text(read.subscriptionId),
    retainedOnly: flag(read.retainedOnly) ?? NO_FILTER.retainedOnly,
  };
}
