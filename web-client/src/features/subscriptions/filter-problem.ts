import { parseTopicFilter } from '@apus/mqtt/topic';
import type { Subscription } from '../../engine/types.ts';

/** The error of a topic filter, in a sentence; undefined if there is none. */
export function filterProblem(filter: string): string | undefined {
  const parsed = parseTopicFilter(filter);
  return 'reason' in parsed ? parsed.reason : undefined;
}

/** The server has one subscription for each filter: a second one would replace the first. */
export function isTaken(filter: string, subscriptions: readonly Subscription[], ownId?: string): boolean {
  return subscriptions.some((known) => known.filter === filter && known.id !== ownId);
}
