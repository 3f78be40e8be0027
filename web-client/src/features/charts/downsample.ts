import type { SampleRing } from './sample-ring.ts';

/** Points of a line, in the order of time. */
export interface Line {
  readonly times: readonly number[];
  /** Null if the line is interrupted. */
  readonly values: readonly (number | null)[];
}

/**
 * At most four points for each column of pixels: the first, the lowest, the highest and the last of its samples. A line
 * through them covers the same pixels as one through all of them (Jugel and others, "M4", 2014), so no peak is lost.
 */
export function downsample(ring: SampleRing, fromMs: number, toMs: number, columns: number): Line {
  const begin = Math.max(0, ring.indexOf(fromMs) - 1);
  const end = Math.min(ring.size, ring.indexOf(toMs) + 1);
  const line: { times: number[]; values: (number | null)[] } = { times: [], values: [] };
  if (end - begin <= columns * 4) {
    for (let index = begin; index < end; index += 1) add(line, ring, index);
    return line;
  }
  const columnMs = (toMs - fromMs) / columns;
  let index = begin;
  while (index < end) {
    const column = Math.floor((ring.timeAt(index) - fromMs) / columnMs);
    let next = index;
    let lowest = index;
    let highest = index;
    while (next < end && Math.floor((ring.timeAt(next) - fromMs) / columnMs) === column) {
      if (ring.valueAt(next) < ring.valueAt(lowest)) lowest = next;
      if (ring.valueAt(next) > ring.valueAt(highest)) highest = next;
      next += 1;
    }
    let last = -1;
    for (const chosen of [index, Math.min(lowest, highest), Math.max(lowest, highest), next - 1]) {
      if (chosen > last) add(line, ring, chosen);
      last = Math.max(last, chosen);
    }
    index = next;
  }
  return line;
}

function add(line: { times: number[]; values: (number | null)[] }, ring: SampleRing, index: number): void {
  line.times.push(ring.timeAt(index));
  line.values.push(ring.valueAt(index));
}

/** The line with an interruption at each of the times, which ascend, as far as they lie between two of its points. */
export function interrupted(line: Line, gapsMs: readonly number[]): Line {
  if (gapsMs.length === 0) return line;
  const times: number[] = [];
  const values: (number | null)[] = [];
  let gap = 0;
  for (const [index, timeMs] of line.times.entries()) {
    for (; (gapsMs[gap] ?? Number.POSITIVE_INFINITY) < timeMs; gap += 1) {
      if (index === 0) continue;
      times.push(gapsMs[gap] ?? timeMs);
      values.push(null);
    }
    times.push(timeMs);
    values.push(line.values[index] ?? null);
  }
  return { times, values };
}
