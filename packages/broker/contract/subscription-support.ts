import type { FilterName, MatchedFilter } from '../src/index.ts';

/** More subscriptions than any test makes, where the limit is not the matter. */
export const MAXIMUM = 100;

export const nameOf = (topicFilter: string, shareGroup?: string): FilterName => ({ topicFilter, shareGroup });

/** `group: filter → client identifiers`, sorted. */
export function summaryOf(found: readonly MatchedFilter[]): string[] {
  return found
    .map(({ topicFilter, shareGroup, subscribers }) => {
      const clients = subscribers.map(({ session }) => session.clientId).sort();
      return `${shareGroup === undefined ? '' : `${shareGroup}: `}${topicFilter} → ${clients}`;
    })
    .sort();
}
