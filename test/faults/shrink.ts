import { type History, type HistoryOptions, runHistory } from './history.ts';
import type { Step } from './steps.ts';

/** One kind of parts that a history consists of. */
type Parts = readonly (Step | string)[];

export interface ShrinkOptions {
  /** Histories that may be tried. */
  readonly triesMax: number;
  /** Called with each that still fails. */
  readonly onShorter?: (history: History) => void;
}

/** The first word of a problem: its kind, without the message that it concerns. */
export function kindOf({ problems }: History): string | undefined {
  return problems[0]?.what.split(':', 1)[0];
}

/**
 * The shortest history that fails in the same way: faults and steps are left out, halves first, then ever smaller
 * parts, for as long as that makes it shorter (delta debugging). The rest is minimal in this sense: none of its
 * parts can be left out alone, unless the tries came to their end.
 */
export async function shrink(
  failed: History,
  options: HistoryOptions,
  { triesMax, onShorter }: ShrinkOptions,
): Promise<History> {
  const kind = kindOf(failed);
  let shortest = failed;
  let tries = 0;
  const attempt = async (steps: readonly Step[], struck: readonly string[]): Promise<boolean> => {
    if (tries >= triesMax) return false;
    tries += 1;
    const history = await runHistory({ ...options, steps, only: new Set(struck) });
    if (kindOf(history) !== kind) return false;
    shortest = history;
    onShorter?.(history);
    return true;
  };
  const withoutFaults = async () =>
    await lessOf(
      () => shortest.struck,
      async (struck) => await attempt(shortest.steps, struck as string[]),
    );
  const withoutSteps = async () =>
    await lessOf(
      () => shortest.steps,
      async (steps) => await attempt(steps as Step[], shortest.struck),
    );
  let isShorter = true;
  while (isShorter && tries < triesMax) {
    const faults = await withoutFaults();
    const steps = await withoutSteps();
    isShorter = faults || steps;
  }
  return shortest;
}

/** Leaves out parts, as long as the rest still fails. Returns whether any was left out. */
async function lessOf(parts: () => Parts, stillFails: (rest: Parts) => Promise<boolean>): Promise<boolean> {
  let isLess = false;
  let size = Math.ceil(parts().length / 2);
  while (size >= 1) {
    let start = 0;
    while (start < parts().length) {
      const all = parts();
      const rest = [...all.slice(0, start), ...all.slice(start + size)];
      if (await stillFails(rest)) isLess = true;
      else start += size;
    }
    if (size === 1) break;
    size = Math.ceil(size / 2);
  }
  return isLess;
}
