import { expect } from 'vitest';
import type { Exploration } from './explore.ts';

/** A row for each test of a table. */
export function titled<T extends { readonly name: string }>(all: readonly T[]): [string, T][] {
  return all.map((each) => [each.name, each]);
}

/**
 * Expects that every state was visited, and kept its promises.
 * @param isTraced whether to print their number
 */
export function expectNothing(name: string, found: Exploration, isTraced: boolean): void {
  if (found.violation !== undefined) expect.fail(readable(name, found));
  expect(found.isComplete).toBe(true);
  if (isTraced) process.stdout.write(`${name}: ${found.states} states\n`);
}

/** The broken promise, and the steps that lead there. */
export function readable(name: string, { violation, trace, states }: Exploration): string {
  return [`${name}: ${violation} (${states} states)`, ...trace.map((step) => `    ${step}`), ''].join('\n');
}
