import {
  noUsage,
  type ProcessUsageRow,
  type UsageLine,
  type UsageQuestion,
  type UsageRow,
  usageReport,
} from '@apus/broker';
import { FLUSH_EVERY_MS, SWEEP_PROCESS, type UsageStore } from '../usage/environment-usage.ts';
import { OperatorRequestError } from './request-error.ts';

export interface UsageAnswer {
  readonly data: readonly UsageLine[];
  readonly meta: Pick<UsageQuestion, 'from' | 'to' | 'by'>;
}

/** @throws {OperatorRequestError} where usage is not counted */
export async function answerOfUsage(
  store: UsageStore | undefined,
  question: UsageQuestion,
): Promise<UsageAnswer> {
  if (store === undefined)
    throw new OperatorRequestError('This deployment does not count usage: deploy it with --usage.');
  const { from, to, by } = question;
  const rows: ProcessUsageRow[] = [];
  for await (const row of store.rows(from, to)) rows.push(row);
  const data = usageReport([...rows, ...uncertainOf(rows)], question);
  return { data, meta: { from, to, by } };
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
