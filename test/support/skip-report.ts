import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';
import { installCommand, PROGRAMS, type ProgramName } from '../../.ci/programs.mjs';

const NO_REASON = 'no reason is given';

/** Prints as the last lines of a run how many tests were skipped and why. A skip without a reason fails the run. */
export class SkipReport implements Reporter {
  /** Vitest itself skips the tests that `-t` does not name. */
  #isNamed = false;

  onInit({ config }: Vitest): void {
    this.#isNamed = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    // The others are tests of a suite that could not begin: it has failed.
    const declared = skipped.filter((test) => test.options.mode !== 'run');
    const counted = this.#isNamed ? declared.filter((test) => reasonOf(test) !== NO_REASON) : declared;
    if (counted.length === 0) return;
    const counts = countBy(counted, reasonOf);
    const lacking = new Set(counted.flatMap((test) => test.meta().lacks ?? []));
    process.stdout.write(`${linesOf(counted.length, counts, [...lacking]).join('\n')}\n`);
    if (counts.has(NO_REASON)) process.exitCode = 1;
  }
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  return test.meta().skipped ?? note ?? NO_REASON;
}

function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1);
  return new Map([...counts].toSorted(([, one], [, other]) => other - one));
}

function linesOf(
  total: number,
  counts: ReadonlyMap<string, number>,
  lacking: readonly ProgramName[],
): string[] {
  const reasons = [...counts].map(([reason, count]) => `${String(count).padStart(6)}  ${reason}`);
  const lines = [`${total} tests were skipped:`, ...reasons];
  if (lacking.length === 0) return lines;
  const command = installCommand(lacking)?.join(' ');
  const titles = lacking.map((name) => PROGRAMS[name].title).join(', ');
  lines.push(
    `'npm run test:prepare' installs what is missing here (${titles})${command ? `: ${command}` : '.'}`,
  );
  return lines;
}
