import { ApiProblem } from '@apus/api';
import {
  noUsage,
  type ProcessUsageRow,
  type UsageLine,
  type UsageQuestion,
  type UsageRow,
  usageReport,
} from '@apus/broker';
import { FLUSH_EVERY_MS, SWEEP_PROCESS, type UsageStore } from '../usage/environment-usage.ts';

/** @throws {ApiProblem} where usage is not counted */
export async function usageOf(
  store: UsageStore | undefined,
  question: UsageQuestion,
): Promise<readonly UsageLine[]> {
  if (store === undefined)
    throw new ApiProblem('NOT_SUPPORTED', 'This deployment does not count usage: deploy it with --usage.');
  const { from, to } = question;
  const rows: ProcessUsageRow[] = [];
  for await (const row of store.rows(from, to)) rows.push(row);
  return usageReport([...rows, ...uncertainOf(rows)], question);
}

/**
 * After its last row each environment may have counted for ten more seconds and then have died. This time is reported
 * as uncertain.
 */
function uncertainOf(rows: readonly ProcessUsageRow[]): readonly UsageRow[] {
  const last = new Map<string, ProcessUsageRow>();
  for (const row of rows)
    if (!row.processId.startsWith(SWEEP_PROCESS)) last.set(`${row.tenant} ${row.processId}`, row);
  return [...last.values()].map(({ tenant, hour }) => ({
    ...{ tenant, hour },
    counts: { ...noUsage(), uncertainMs: FLUSH_EVERY_MS },
  }));
}
