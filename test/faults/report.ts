import type { History } from './history.ts';

const PROBLEMS_MAX = 10;

/** The report of a failed history: its cause, and the command that repeats it. */
export function reportOf(failed: History, shortest: History = failed): string {
  const { problems, steps, struck, trace } = shortest;
  const [first] = problems;
  return [
    `seed ${failed.seed}: ${JSON.stringify(failed.counts)}`,
    ...listed(
      'problems',
      failed.problems.map(({ what }) => what),
      PROBLEMS_MAX,
    ),
    `shortest history found: ${steps.length} of ${failed.steps.length} steps, ${struck.length} of ${failed.struck.length} faults`,
    ...listed(
      'problems',
      problems.map(({ what }) => what),
      PROBLEMS_MAX,
    ),
    ...listed(
      'steps',
      steps.map((step) => JSON.stringify(step)),
      Number.POSITIVE_INFINITY,
    ),
    ...listed('faults', struck, Number.POSITIVE_INFINITY),
    ...(first === undefined ? [] : listed(`story of ${first.about}`, trace.storyOf(first.about), 100)),
  ].join('\n');
}

function listed(title: string, lines: readonly string[], max: number): string[] {
  const shown = lines.slice(0, max).map((line) => `  ${line}`);
  const more = lines.length > max ? [`  … and ${lines.length - max} more`] : [];
  return [`${title}:`, ...shown, ...more];
}
