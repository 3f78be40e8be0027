import { join } from 'node:path';
import type { Log } from '@apus/broker';
import type { Links } from '../links.ts';
import type { ResolvedOptions } from '../options.ts';
import type { OpenedStores } from '../stores.ts';
import { NodeUsage } from './node-usage.ts';
import { MemoryUsage, UsageFiles, type UsageJournal } from './usage-journal.ts';

/** The usage of a node: in a shared journal, or in the data directory, or in memory. */
export function openUsage(
  { dataDirectory, clock }: ResolvedOptions,
  stores: OpenedStores['stores'],
  links: Links,
  memory: { queuedBytes(tenant: string): number },
  log: Log,
  shared: UsageJournal | undefined,
): NodeUsage {
  const journal =
    shared ??
    (dataDirectory === undefined ? new MemoryUsage() : new UsageFiles(join(dataDirectory, 'usage')));
  const queuedBytes = (tenant: string): number => memory.queuedBytes(tenant);
  return new NodeUsage({ links, stores, queuedBytes, journal, clock, log });
}
