import type { TaskMeta } from 'vitest';
import { PROGRAMS, type ProgramName } from '../../.ci/programs.mjs';

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test is skipped: `skip-report.ts` counts the tests by it. */
    skipped?: string;
    /** The program that the test needs and this machine lacks. */
    lacks?: ProgramName;
  }
}

export interface Skip {
  readonly skip: boolean;
  readonly meta?: Partial<TaskMeta>;
}

/** Options of `describe` and `it`: the tests are skipped where there is a reason. */
export function skipFor(reason: string | undefined | false): Skip {
  return reason ? { skip: true, meta: { skipped: reason } } : { skip: false };
}

/** Options of `describe` and `it` for tests that need a program, where it was looked for and perhaps not found. */
export function needs(name: ProgramName, found: unknown): Skip {
  if (found !== undefined) return { skip: false };
  return { skip: true, meta: { skipped: `need ${PROGRAMS[name].title}`, lacks: name } };
}

/** For tests that need several programs: the first that is missing. */
export function needsAll(...skips: readonly Skip[]): Skip {
  return skips.find(({ skip }) => skip) ?? { skip: false };
}

const IS_CI = process.env.CI !== undefined;

/** Options of `describe` and `it` for what takes long and is left to CI. */
export const inCi: Skip = skipFor(!IS_CI && 'are left to CI (CI=true npm test)');

/** Options of `describe` and `it` for what reads a process's use of the processor in Linux's /proc. */
export const onLinux: Skip = skipFor(process.platform !== 'linux' && 'need /proc of Linux');
