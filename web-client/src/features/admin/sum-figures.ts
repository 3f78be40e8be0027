import type { Figures } from './admin-api.ts';

/** Figures that are equal at each process, or that the oldest one has. */
const NOT_SUMMED = ['retained.count', 'retained.max', 'uptime_seconds'];

/** The number of processes that have answered: rates compare the same processes. */
export const PROCESSES = 'processes.count';

/** The figures of a broker: those of its processes together. */
export function sumOfFigures(processes: readonly Figures[]): Figures {
  const sum: Record<string, number> = { [PROCESSES]: processes.length };
  for (const figures of processes)
    for (const [name, value] of Object.entries(figures)) {
      if (typeof value !== 'number') continue;
      const before = sum[name] ?? 0;
      sum[name] = NOT_SUMMED.includes(name) ? Math.max(before, value) : before + value;
    }
  return sum;
}
