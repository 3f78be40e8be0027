import type { Figures } from './admin-api.ts';

/** Figures that say the same at each process, or are of the oldest one. */
const NOT_SUMMED = ['retained.count', 'retained.max', 'uptime_seconds'];

/** How many processes have answered: rates are of the same processes. */
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
