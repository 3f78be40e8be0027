import { validateTopicFilter } from '@apus/mqtt/topic';
import { readSubscription } from '../../engine/read-profile.ts';
import type { Subscription } from '../../engine/types.ts';
import { FileProblem } from './file-problem.ts';
import { SUBSCRIPTIONS_MAX } from './limits.ts';

export const SUBSCRIPTIONS_KIND = 'apus-subscriptions';

export function subscriptionsFile(
  subscriptions: readonly Subscription[],
  exportedAt: Date = new Date(),
): string {
  const head = { format: SUBSCRIPTIONS_KIND, version: 1, exportedAt: exportedAt.toISOString() };
  const records = subscriptions.map(({ id: _id, ...record }) => record);
  return `${JSON.stringify({ ...head, subscriptions: records }, undefined, 2)}\n`;
}

/** @throws {FileProblem} where one of them is no subscription, or there are too many */
export function readSubscriptions(entries: readonly unknown[]): readonly Subscription[] {
  if (entries.length > SUBSCRIPTIONS_MAX)
    throw new FileProblem('tooManySubscriptions', { count: entries.length, max: SUBSCRIPTIONS_MAX });
  if (entries.length === 0) throw new FileProblem('empty');
  return entries.map((entry, index) => {
    const subscription = readSubscription(entry, index);
    const place = { kind: 'entry', number: index + 1 } as const;
    if (subscription === undefined) throw new FileProblem('subscription', {}, place);
    const invalid = validateTopicFilter(subscription.filter);
    if (invalid !== undefined) throw new FileProblem('filter', { detail: invalid.reason }, place);
    return subscription;
  });
}

/** The subscriptions whose filter the connection lacks: its own subscriptions stay as they are. */
export function newAmong(
  subscriptions: readonly Subscription[],
  known: readonly Subscription[],
): readonly Subscription[] {
  const taken = new Set(known.map(({ filter }) => filter));
  return subscriptions.filter(({ filter }) => {
    if (taken.has(filter)) return false;
    taken.add(filter);
    return true;
  });
}
