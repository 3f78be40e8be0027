import { USAGE_FIELDS } from './counts.ts';
import type { UsageLine } from './report.ts';

/** RFC 4180, without a line break at the end. */
export function csvOf(fields: readonly string[], lines: readonly object[]): string {
  const rows = lines.map((line) => fields.map((field) => quoted((line as Record<string, unknown>)[field])));
  return [fields, ...rows].map((row) => row.join(',')).join('\r\n');
}

/** Lines of a report with a header. */
export function usageCsv(lines: readonly UsageLine[]): string {
  return csvOf(['tenant', 'time', ...USAGE_FIELDS], lines);
}

function quoted(value: unknown): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
