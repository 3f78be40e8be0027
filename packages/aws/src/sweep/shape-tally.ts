import { type DynamoStores, type HoldingAccount, type Swept, unusedShapes } from '@apus/store-dynamodb';
import type { SweepProgress } from './progress.ts';

/** Tenants whose shapes one pass looks for: it keeps them in one item, of at most 400 KB. */
const TENANTS_MAX = 100;

/** The filter shapes of a tenant to which sessions subscribe, as hashes: 64 at most. It survives JSON. */
export interface ShapeTally {
  readonly tenant: string;
  readonly used: readonly string[];
}

/** The tenants that have refused a shape, among those whose counts are wanted. */
export function emptyShapeTallies(wanted: readonly HoldingAccount[]): readonly ShapeTally[] {
  return wanted
    .filter(({ kind }) => kind === 'tenant')
    .slice(0, TENANTS_MAX)
    .map(({ tenant }) => ({ tenant, used: [] }));
}

/** Adds the shapes of a page. */
export function shapesTallied(
  tallies: readonly ShapeTally[],
  found: readonly Swept[],
): readonly ShapeTally[] {
  if (tallies.length === 0) return tallies;
  const byTenant = new Map(tallies.map(({ tenant, used }) => [tenant, new Set(used)]));
  for (const swept of found) {
    if (swept.kind !== 'shapes') continue;
    const used = byTenant.get(swept.tenant);
    for (const hash of swept.hashes) used?.add(hash);
  }
  return Array.from(byTenant, ([tenant, used]) => ({ tenant, used: [...used] }));
}

/** Gives back the shapes that no session uses [SEC-POOL-4]. A pass that has not read messages has seen no list. */
export async function releaseShapes(
  shapes: DynamoStores['shapes'],
  { shapes: tallies = [], readsMessages, startedAtMs }: SweepProgress,
): Promise<void> {
  if (!readsMessages) return;
  for (const { tenant, used } of tallies) {
    const hashes = new Set(used);
    await shapes.release(
      tenant,
      unusedShapes(startedAtMs, (hash) => hashes.has(hash)),
    );
  }
}
