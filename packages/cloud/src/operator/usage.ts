import { type UsageLine, type UsageQuestion, type UsageRow, usageReport } from '@apus/broker';
import type { UsageStore } from '../usage/environment-usage.ts';
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
  const rows: UsageRow[] = [];
  for await (const row of store.rows(from, to)) rows.push(row);
  return { data: usageReport(rows, question), meta: { from, to, by } };
}
