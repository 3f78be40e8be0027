import { type Clock, type Log, type UsageLine, usageCsv } from '@apus/broker';
import { usageOf } from '../../operator/usage.ts';
import type { UsageStore } from '../environment-usage.ts';

/** Lines of a report, or a JSON object in each line. */
export const EXPORT_FORMATS = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const DAY_MS = 86_400_000;

/** How far back missed exports are made up for. */
const DAYS_BACK = 7;

const DAY = /^\d{4}-\d\d-\d\d$/;

/** Where exports are kept, each under its name. */
export interface ExportBucket {
  has(name: string): Promise<boolean>;
  /** Replaces what is there. */
  put(name: string, body: string, contentType: string): Promise<void>;
}

export interface ExportOptions {
  readonly store: UsageStore;
  readonly bucket: ExportBucket;
  readonly format: ExportFormat;
  readonly clock: Clock;
  readonly log: Log;
}

/** The files that a run has written. */
export interface ExportReport {
  readonly written: readonly string[];
}

/**
 * A scheduled function, once a day: writes a file for each day that is over, with a line for each tenant and hour. The
 * file is named after its day, so a repeated run replaces it with the same content. It also writes missing files of
 * the seven days before. `{"day": "2026-11-25"}` writes the file of that day again.
 *
 * @throws {Error} if the event names no day, or the bucket does not take a file: Lambda then calls it again
 */
export function createUsageExport(options: ExportOptions): (event: unknown) => Promise<ExportReport> {
  return async (event) => {
    const { clock, log } = options;
    const asked = dayIn(event);
    const days = asked === undefined ? await missingDays(options, clock.now()) : [asked];
    const written: string[] = [];
    for (const day of days) written.push(await exportDay(options, day));
    log.info('usage-exported', { written });
    return { written };
  };
}

/**
 * Yesterday's file is written again in any case: by now an environment that was busy at midnight has written its last
 * row.
 */
async function missingDays({ bucket, format }: ExportOptions, nowMs: number): Promise<readonly string[]> {
  const days = Array.from({ length: DAYS_BACK }, (_, index) => dayOf(nowMs - (DAYS_BACK - index) * DAY_MS));
  const missing: string[] = [];
  for (const day of days.slice(0, -1)) if (!(await bucket.has(nameOf(day, format)))) missing.push(day);
  return [...missing, ...days.slice(-1)];
}

async function exportDay({ store, bucket, format }: ExportOptions, day: string): Promise<string> {
  const from = `${day}T00`;
  const to = `${dayOf(Date.parse(day) + DAY_MS)}T00`;
  const data = await usageOf(store, { tenant: undefined, from, to, by: 'hour' });
  const name = nameOf(day, format);
  await bucket.put(name, textOf(data, format), format === 'csv' ? 'text/csv' : 'application/x-ndjson');
  return name;
}

function textOf(lines: readonly UsageLine[], format: ExportFormat): string {
  if (format === 'csv') return `${usageCsv(lines)}\r\n`;
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function dayIn(event: unknown): string | undefined {
  const day = (event as { readonly day?: unknown } | null | undefined)?.day;
  if (day === undefined) return undefined;
  if (typeof day === 'string' && DAY.test(day) && !Number.isNaN(Date.parse(day))) return day;
  throw new Error(`day is a day in UTC, as 2026-11-25, not ${JSON.stringify(day)}`);
}

/** As Athena finds a day's file by its folder: `usage/day=2026-11-25/usage.csv`. */
function nameOf(day: string, format: ExportFormat): string {
  return `usage/day=${day}/usage.${format}`;
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
