import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { Command } from '../../src/commands/command.ts';
import { parseFlags } from '../../src/commands/flags.ts';

/**
 * Runs commands of `apus` in this process, for the tests of a file.
 *
 * @returns a function that runs a command, expects success, and returns the printed lines
 */
export function commandsForTests(): (command: Command, ...args: string[]) => Promise<string[]> {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });
  return async (command, ...args) => {
    const from = lines.length;
    expect(await command.run(parseFlags(Object.assign({}, ...Object.values(command.flags)), args))).toBe(0);
    return lines.slice(from);
  };
}
