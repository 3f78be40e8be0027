import type { Path } from './path.ts';

export type Step = string | number;

/** The value for the place at the end of a path. No two paths in a list of branches overlap. */
export interface Branch<Leaf> {
  /** The rest of the path. */
  readonly steps: readonly Step[];
  readonly leaf: Leaf;
}

export function branchOf<Leaf>(path: Path, leaf: Leaf): Branch<Leaf> {
  return { steps: path, leaf };
}

/** The branch that ends here; then it is the only one. */
export function leafOf<Leaf>(branches: readonly Branch<Leaf>[]): Branch<Leaf> | undefined {
  return branches.find(({ steps }) => steps.length === 0);
}

/** Branches by their next step, without it. */
export function byNextStep<Leaf>(branches: readonly Branch<Leaf>[]): Map<Step, Branch<Leaf>[]> {
  const byStep = new Map<Step, Branch<Leaf>[]>();
  for (const { steps, leaf } of branches) {
    const [step, ...rest] = steps;
    if (step === undefined) continue;
    const siblings = byStep.get(step) ?? [];
    siblings.push({ steps: rest, leaf });
    byStep.set(step, siblings);
  }
  return byStep;
}
