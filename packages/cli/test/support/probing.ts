import { afterEach, beforeEach, vi } from 'vitest';
import { parseFlags } from '../../src/commands/flags.ts';
import { probe } from '../../src/commands/probe.ts';
import type { Finding, ProbeContext, ProbeItem } from '../../src/probe/item.ts';
import { tryItem } from '../../src/probe/items.ts';

/** Waits for pending events, and cuts waits of minutes short. */
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.min(ms, 20)));

export async function triedOf(
  items: readonly ProbeItem[],
  name: string,
  url: string,
  more: Partial<ProbeContext>,
): Promise<Finding> {
  const item = items.find((each) => each.name === name);
  if (item === undefined) throw new Error(`there is no ${name}`);
  const context = { url, token: undefined, name: 'test', publish: undefined, sleep, say: () => {} };
  return await tryItem(item, true, { ...context, holdSeconds: 60, ...more });
}

/** The command for the tests of a suite, and the lines that it prints. */
export function useProbe() {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    vi.spyOn(console, 'error').mockImplementation(() => {});
  });
  afterEach(() => void vi.restoreAllMocks());
  const run = (...args: string[]) =>
    probe.run(parseFlags(Object.assign({}, ...Object.values(probe.flags)), args));
  return { lines, run };
}
