import { quotaHolderKey, quotaHolderOf } from '@apus/broker';
import type { HeldCounts, HoldingAccount, QuotaHoldings, Swept } from '@apus/store-dynamodb';
import { inLanes } from '../posts/lanes.ts';
import { PARALLEL_WRITES_MAX } from '../usage/environment-usage.ts';
import type { SweepProgress } from './progress.ts';

/** Holders that one pass counts: it keeps its counts in one item, of at most 400 KB. */
const HOLDERS_MAX = 1_000;

/** The counts of one pass for a holder whose stored count may be wrong. It survives JSON. */
export interface HeldTally extends HeldCounts {
  readonly account: HoldingAccount;
}

/** The holders on a page that ask for a count. The next pass counts them from its beginning. */
export function wantedHolders(
  wanted: readonly HoldingAccount[],
  found: readonly Swept[],
): readonly HoldingAccount[] {
  const added = found.flatMap((swept) =>
    swept.kind === 'holdings' && swept.isCountWanted ? [swept.account] : [],
  );
  return added.length === 0 ? wanted : [...wanted, ...added].slice(0, HOLDERS_MAX);
}

export function emptyTallies(wanted: readonly HoldingAccount[]): readonly HeldTally[] {
  return wanted.map((account) => ({
    account,
    connections: 0,
    sessions: 0,
    retainedMessages: 0,
    retainedBytes: 0,
  }));
}

/** Adds the sessions and retained messages of a page. */
export function heldTallied(tallies: readonly HeldTally[], found: readonly Swept[]): readonly HeldTally[] {
  if (tallies.length === 0) return tallies;
  const byKey = new Map(tallies.map((tally) => [quotaHolderKey(tally.account), tally]));
  for (const swept of found) {
    for (const account of holdersOf(swept)) {
      const key = quotaHolderKey(account);
      const tally = byKey.get(key);
      if (tally !== undefined) byKey.set(key, added(tally, swept));
    }
  }
  return [...byKey.values()];
}

/** A pass that has not read messages leaves their counts, and the request for them, as they are. */
export async function writeTallies(
  holdings: Pick<QuotaHoldings, 'set' | 'setSessions'>,
  { held = [], readsMessages }: Pick<SweepProgress, 'held' | 'readsMessages'>,
): Promise<void> {
  await inLanes(PARALLEL_WRITES_MAX, held, ({ account, ...counts }) =>
    readsMessages ? holdings.set(account, counts) : holdings.setSessions(account, counts),
  );
}

/** A tenant's retained messages have numbers of their own (`retained-tally.ts`). */
function holdersOf(swept: Swept): readonly HoldingAccount[] {
  if (swept.kind === 'retained') return swept.holder === undefined ? [] : [swept.holder];
  if (swept.kind !== 'session' || swept.identity === undefined) return [];
  return [quotaHolderOf(swept.identity, swept.clientId), tenantAccount(swept.tenant)];
}

function added(tally: HeldTally, swept: Swept): HeldTally {
  if (swept.kind === 'retained')
    return {
      ...tally,
      retainedMessages: tally.retainedMessages + 1,
      retainedBytes: tally.retainedBytes + swept.bytes,
    };
  if (swept.kind !== 'session') return tally;
  const connections = tally.connections + (swept.connectionId === undefined ? 0 : 1);
  return { ...tally, connections, sessions: tally.sessions + 1 };
}

function tenantAccount(tenant: string): HoldingAccount {
  return { tenant, kind: 'tenant', name: '' };
}
