import type { Swept } from '@apus/store-dynamodb';

/** Tenants whose numbers are corrected: a pass notes what it has counted in one item, of at most 400 KB. */
const TENANTS_MAX = 1_000;

/** The numbers are sampled, and are wrong by some of these by chance: no write puts that right. */
const MESSAGES_MIN = 256;
const BYTES_MIN = 256 * 1_024;

/** Counts of one pass for one tenant. Survives JSON. */
export interface RetainedTally {
  readonly tenant: string;
  readonly messages: number;
  readonly bytes: number;
  /** As the tenant's own numbers say. */
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

/** Those whose numbers are further off than chance: TTL has removed messages, and nothing has counted them down. */
export function wrongTallies(tallies: readonly RetainedTally[]): readonly RetainedTally[] {
  return tallies.filter(
    ({ messages, bytes, countedMessages, countedBytes }) =>
      Math.abs(messages - countedMessages) >= MESSAGES_MIN || Math.abs(bytes - countedBytes) >= BYTES_MIN,
  );
}
