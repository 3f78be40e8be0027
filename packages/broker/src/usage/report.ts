import { addCounts, HOUR_MS, noUsage, type UsageCounts, type UsageRow, usageHour } from './counts.ts';

/** The time that one line of a report covers. */
export const USAGE_STEPS = ['hour', 'day', 'month', 'total'] as const;
export type UsageStep = (typeof USAGE_STEPS)[number];

/** The question is wrong: see the message. */
export class UsageQuestionError extends Error {
  override readonly name = 'UsageQuestionError';
}

export interface UsageQuestion {
  /** Undefined: every tenant. */
  readonly tenant: string | undefined;
  /** Hours as in `UsageRow`: `from` included, `to` excluded. */
  readonly from: string;
  readonly to: string;
  readonly by: UsageStep;
}

/** One line: for a tenant, and for an hour, a day, a month, or the whole time of the question. */
export interface UsageLine extends UsageCounts {
  readonly tenant: string;
  /** `2026-11-25T18`, `2026-11-25`, `2026-11`, or the question's own beginning. */
  readonly time: string;
}

/** Without `from` a report begins with the month. */
const MONTH_LENGTH = 7;
const LENGTHS = { hour: 13, day: 10, month: MONTH_LENGTH } as const;

/** The forms of `from` and `to`: a month, a day, an hour or a time, in UTC. */
const TIME = /^\d{4}-\d\d(-\d\d(T\d\d(:00(:00(\.000)?)?Z?)?)?)?$/;

/** @throws {UsageQuestionError} */
export function readUsageQuestion(given: Readonly<Record<string, unknown>>, nowMs: number): UsageQuestion {
  const { tenant, from, to, by = 'total', ...others } = given;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new UsageQuestionError(`A question about usage has no field "${unknown}": tenant, from, to, by.`);
  if (tenant !== undefined && typeof tenant !== 'string') throw new UsageQuestionError('tenant is a text.');
  const step = USAGE_STEPS.find((each) => each === by);
  if (step === undefined) throw new UsageQuestionError(`by is one of ${USAGE_STEPS.join(', ')}.`);
  const question = {
    tenant,
    from: hourOf('from', from ?? new Date(nowMs).toISOString().slice(0, MONTH_LENGTH)),
    to: to === undefined ? usageHour(nowMs + HOUR_MS) : hourOf('to', to),
    by: step,
  };
  if (question.from >= question.to) throw new UsageQuestionError('from has to be before to.');
  return question;
}

function hourOf(name: string, value: unknown): string {
  const atMs = typeof value === 'string' && TIME.test(value) ? Date.parse(padded(value)) : Number.NaN;
  if (Number.isNaN(atMs))
    throw new UsageQuestionError(
      `${name} is a month, a day or an hour in UTC, as 2026-11, 2026-11-25 or 2026-11-25T18.`,
    );
  return usageHour(atMs);
}

function padded(time: string): string {
  return time.length === LENGTHS.hour ? `${time}:00Z` : time;
}

/** The rows of a question, added up by its step, by tenant and time. */
export function usageReport(rows: Iterable<UsageRow>, question: UsageQuestion): readonly UsageLine[] {
  const lines = new Map<string, { tenant: string; time: string } & UsageCounts>();
  for (const { tenant, hour, counts } of rows) {
    if (hour < question.from || hour >= question.to) continue;
    if (question.tenant !== undefined && tenant !== question.tenant) continue;
    const time = question.by === 'total' ? question.from : hour.slice(0, LENGTHS[question.by]);
    const key = `${tenant} ${time}`;
    const line = lines.get(key) ?? { tenant, time, ...noUsage() };
    addCounts(line, counts);
    lines.set(key, line);
  }
  return [...lines.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
}
