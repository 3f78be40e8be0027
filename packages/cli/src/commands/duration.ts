import { UsageError } from './flags.ts';

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Seconds of `30s`, `15m`, `12h` or `7d`. `most` is the longest time, in the same form. */
export function durationFrom(flag: string, text: string, most: string): number {
  const seconds = secondsOf(text);
  if (seconds > 0 && seconds <= secondsOf(most)) return seconds;
  throw new UsageError(`--${flag} takes a time up to ${most}, such as 15m or 12h, not "${text}".`);
}

function secondsOf(text: string): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  return Number(count) * (SECONDS_OF[unit] ?? Number.NaN);
}
