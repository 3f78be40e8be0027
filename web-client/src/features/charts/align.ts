import type { Line } from './downsample.ts';

/**
 * uPlot's data: times, then a column for each line with `undefined` for times without a point, and null for
 * interruptions.
 */
export type Columns = [times: number[], ...lines: (number | null | undefined)[][]];

/**
 * Puts lines with different times over one column of times, in seconds. A line may have two points at the same time;
 * each keeps its row.
 */
export function align(lines: readonly Line[]): Columns {
  const times: number[] = [];
  const columns = lines.map((): (number | null | undefined)[] => []);
  const next = lines.map(() => 0);
  for (;;) {
    let earliest = Number.POSITIVE_INFINITY;
    for (const [index, line] of lines.entries()) {
      earliest = Math.min(earliest, line.times[next[index] ?? 0] ?? Number.POSITIVE_INFINITY);
    }
    if (earliest === Number.POSITIVE_INFINITY) return [times, ...columns];
    times.push(earliest / 1_000);
    for (const [index, line] of lines.entries()) {
      const at = next[index] ?? 0;
      const isHere = line.times[at] === earliest;
      columns[index]?.push(isHere ? line.values[at] : undefined);
      if (isHere) next[index] = at + 1;
    }
  }
}
