import type { Swept } from '@apus/store-dynamodb';

/** Tenants whose numbers are corrected: a pass keeps its counts in one item, of at most 400 KB. */
const TENANTS_MAX = 1_000;

/** The numbers are sampled, and differ by some messages by chance. No write can correct that. */
const MESSAGES_MIN = 256;
const BYTES_MIN = 256 * 1_024;

/** The counts of one pass for one tenant. They survive JSON. */
export interface RetainedTally {
  readonly tenant: string;
  readonly messages: number;
  readonly bytes: number;
  /** As the tenant's numbers say. */
  readonly countedMessages: number;
  readonly countedBytes: number;
}

/** Adds the retained messages of a page. */
export function tallied(
  tallies: readonly RetainedTally[],
  found: readonly Swept[],
): readonly RetainedTally[] {
  const byTenant = new Map(tallies.map((tally) => [tally.tenant, tally]));
  for (const swept of found) {
    if (swept.kind !== 'retained' && swept.kind !== 'retained-count') continue;
    const known = byTenant.get(swept.tenant);
    if (known === undefined && byTenant.size >= TENANTS_MAX) continue;
    const none = { tenant: swept.tenant, messages: 0, bytes: 0, countedMessages: 0, countedBytes: 0 };
    byTenant.set(swept.tenant, added(known ?? none, swept));
  }
  return [...byTenant.values()];
}

function added(
  tally: RetainedTally,
  swept: Extract<Swept, { kind: 'retained' | 'retained-count' }>,
): RetainedTally {
  if (swept.kind === 'retained')
    return { ...tally, messages: tally.messages + 1, bytes: tally.bytes + swept.bytes };
  return swept.of === 'messages'
    ? { ...tally, countedMessages: swept.count }
    : { ...tally, countedBytes: swept.count };
}

/** The tallies that differ from the numbers by more than chance: TTL has removed messages, which is not counted. */
export function wrongTallies(tallies: readonly RetainedTally[]): readonly RetainedTally[] {
  return tallies.filter(
    ({ messages, bytes, countedMessages, countedBytes }) =>
      Math.abs(messages - countedMessages) >= MESSAGES_MIN || Math.abs(bytes - countedBytes) >= BYTES_MIN,
  );
}
