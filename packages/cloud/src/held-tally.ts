import { quotaHolderOf } from '@apus/broker';
import type { HeldCounts, HoldingAccount, QuotaHoldings, Swept } from '@apus/store-dynamodb';
import { keyOf } from './quotas/holding-quota.ts';

/** Holders that one pass counts: it notes what it has counted in one item, of at most 400 KB. */
const HOLDERS_MAX = 1_000;

/** Counts of one pass for a holder that had been counted wrong, perhaps. Survives JSON. */
export interface HeldTally extends HeldCounts {
  readonly account: HoldingAccount;
}

/** Holders whose numbers somebody wants, as a page has them: the next pass counts them, from its beginning. */
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
  return wanted.map((account) => ({ account, connections: 0, sessions: 0 }));
}

/** Adds what a page has of their sessions. */
export function heldTallied(tallies: readonly HeldTally[], found: readonly Swept[]): readonly HeldTally[] {
  if (tallies.length === 0) return tallies;
  const byKey = new Map(tallies.map((tally) => [keyOf(tally.account), tally]));
  for (const swept of found) {
    if (swept.kind !== 'session' || swept.identity === undefined) continue;
    const { tenant, clientId, identity, connectionId } = swept;
    for (const account of [quotaHolderOf(identity, clientId), tenantAccount(tenant)]) {
      const key = keyOf(account);
      const tally = byKey.get(key);
      if (tally === undefined) continue;
      const connections = tally.connections + (connectionId === undefined ? 0 : 1);
      byKey.set(key, { ...tally, connections, sessions: tally.sessions + 1 });
    }
  }
  return [...byKey.values()];
}

export async function writeTallies(
  holdings: Pick<QuotaHoldings, 'set'>,
  tallies: readonly HeldTally[],
): Promise<void> {
  for (const { account, connections, sessions } of tallies)
    await holdings.set(account, { connections, sessions });
}

function tenantAccount(tenant: string): HoldingAccount {
  return { tenant, kind: 'tenant', name: '' };
}
