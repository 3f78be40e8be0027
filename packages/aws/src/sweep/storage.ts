import { noUsage, type UsageRow, usageHour } from '@apus/broker';
import type { Swept } from '@apus/store-dynamodb';
import { inLanes } from '../posts/lanes.ts';
import { PARALLEL_WRITES_MAX, SWEEP_PROCESS, type UsageStore } from '../usage/environment-usage.ts';
import type { SweepProgress } from './progress.ts';

/** Tenants whose waiting messages are added up: a pass keeps its counts in one item, of at most 400 KB. */
const TENANTS_MAX = 1_000;

/** A pass stands for the time since the previous one, but for no more than this: the sweep may have been stopped. */
const RETAINED_MS_MAX = 3_600_000;
const WAITING_MS_MAX = 25 * 3_600_000;

/** Bytes of the messages that wait for sessions of a tenant. Survives JSON. */
export interface WaitingTally {
  readonly tenant: string;
  readonly bytes: number;
}

/** Adds the waiting messages of a page. */
export function waitingTallied(
  tallies: readonly WaitingTally[],
  found: readonly Swept[],
): readonly WaitingTally[] {
  const byTenant = new Map(tallies.map(({ tenant, bytes }) => [tenant, bytes]));
  for (const swept of found) {
    if (swept.kind !== 'waiting') continue;
    const known = byTenant.get(swept.tenant);
    if (known === undefined && byTenant.size >= TENANTS_MAX) continue;
    byTenant.set(swept.tenant, (known ?? 0) + swept.bytes);
  }
  return [...byTenant].map(([tenant, bytes]) => ({ tenant, bytes }));
}

/**
 * Writes what each tenant has stored since the previous pass: retained messages by the tenant's numbers, which every
 * pass reads, and waiting messages by a pass that has read them. A pass has one row for each tenant, so two runs that
 * end the same pass write the same row.
 */
export async function writeStorage(store: Pick<UsageStore, 'put'>, progress: SweepProgress): Promise<void> {
  await inLanes(PARALLEL_WRITES_MAX, storageRows(progress), (row) =>
    store.put(`${SWEEP_PROCESS}${progress.pass}`, row),
  );
}

function storageRows(progress: SweepProgress): readonly UsageRow[] {
  const { startedAtMs, readsMessages, retained, waiting = [], retainedSinceMs, waitingSinceMs } = progress;
  const byteSeconds = new Map<string, number>();
  const add = (tenant: string, bytes: number, ms: number): void => {
    const known = byteSeconds.get(tenant) ?? 0;
    byteSeconds.set(tenant, known + (Math.max(0, bytes) * ms) / 1_000);
  };
  const retainedMs = sinceOf(retainedSinceMs, startedAtMs, RETAINED_MS_MAX);
  const waitingMs = sinceOf(waitingSinceMs, startedAtMs, WAITING_MS_MAX);
  for (const { tenant, bytes, countedBytes } of retained)
    add(tenant, readsMessages ? bytes : countedBytes, retainedMs);
  if (readsMessages) for (const { tenant, bytes } of waiting) add(tenant, bytes, waitingMs);
  return [...byteSeconds]
    .map(([tenant, sum]) => ({ tenant, storageByteSeconds: Math.round(sum) }))
    .filter(({ storageByteSeconds }) => storageByteSeconds > 0)
    .map(({ tenant, storageByteSeconds }) => ({
      tenant,
      hour: usageHour(startedAtMs),
      counts: { ...noUsage(), storageByteSeconds },
    }));
}

/** 0 if there was no previous pass: a tenant is not charged for an unknown time. */
function sinceOf(sinceMs: number | undefined, nowMs: number, mostMs: number): number {
  return sinceMs === undefined ? 0 : Math.min(Math.max(0, nowMs - sinceMs), mostMs);
}
