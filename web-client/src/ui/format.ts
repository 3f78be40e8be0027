/** Numbers, sizes and times as people read them, in the browser's language. */

const integer = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const oneDigit = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

const KIB = 1024;
const MIB = KIB * KIB;

export function formatCount(count: number): string {
  return count < 100_000 ? integer.format(count) : compact.format(count);
}

/** With every digit, for numbers that the user decides by. */
export function formatExact(count: number): string {
  return integer.format(count);
}

/** A rate, with a decimal if it is small. */
export function formatRate(perSecond: number): string {
  return perSecond > 0 && perSecond < 10 ? oneDigit.format(perSecond) : formatCount(perSecond);
}

export function formatBytes(bytes: number): string {
  if (bytes < KIB) return `${integer.format(bytes)} B`;
  if (bytes < MIB) return `${oneDigit.format(bytes / KIB)} KiB`;
  return `${oneDigit.format(bytes / MIB)} MiB`;
}

/** A duration in milliseconds, or in seconds if it is long. */
export function formatDuration(ms: number): string {
  if (Math.abs(ms) >= 10_000) return `${oneDigit.format(ms / 1_000)} s`;
  return `${Math.abs(ms) < 10 ? oneDigit.format(ms) : integer.format(ms)} ms`;
}

/** A time of some seconds, or more. */
export function formatSeconds(ms: number): string {
  return `${oneDigit.format(ms / 1_000)} s`;
}

/** `12:34:56.789`, in local time: a table needs every row as wide as the others. */
export function formatTime(atMs: number): string {
  const at = new Date(atMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  const milliseconds = String(at.getMilliseconds()).padStart(3, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${milliseconds}`;
}

/** `12:34`, in local time: everywhere with 24 hours. */
export function formatMinute(atMs: number): string {
  return formatTime(atMs).slice(0, 5);
}

/** `1 May 2026, 12:34:56`, in local time. */
export function formatDateTime(atMs: number): string {
  return `${date.format(atMs)}, ${formatTime(atMs).slice(0, 8)}`;
}

/** The text for one, or for another number. */
export function plural(count: number, one: string, other: string): string {
  return count === 1 ? one : other;
}

/** A text of a table, with its values in the place of `{{name}}`. */
export function fill(text: string, values: object): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) =>
    String((values as Readonly<Record<string, unknown>>)[name] ?? placeholder),
  );
}
