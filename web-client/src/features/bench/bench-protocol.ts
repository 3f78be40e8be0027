import type { BenchTarget } from './open-bench-client.ts';
import type { BenchPlan } from './plan.ts';
import type { BenchSnapshot } from './result.ts';

/** A command of the page to the worker of a run. Each worker has one run. */
export type BenchCommand =
  | { readonly type: 'start'; readonly run: string; readonly plan: BenchPlan; readonly target: BenchTarget }
  | { readonly type: 'stop' };

/** A report of the worker to the page. */
export type BenchReport = BenchSnapshot;
