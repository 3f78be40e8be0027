import { format } from 'node:util';
import { vi } from 'vitest';
import { runCommandLine } from '../../src/run-command-line.ts';
import type { Outcome } from './built.ts';

/**
 * Runs a command line that ends by itself in this process, and returns its console output. A process of its own would
 * take a hundred times as long.
 */
export async function runInThisProcess(args: readonly string[]): Promise<Outcome> {
  let stdout = '';
  let stderr = '';
  const log = vi.spyOn(console, 'log').mockImplementation((...words) => {
    stdout += `${format(...words)}\n`;
  });
  const error = vi.spyOn(console, 'error').mockImplementation((...words) => {
    stderr += `${format(...words)}\n`;
  });
  const write = vi.spyOn(process.stdout, 'write').mockImplementation(((bytes: Buffer, taken: () => void) => {
    stdout += bytes.toString();
    setImmediate(taken);
    return true;
  }) as typeof process.stdout.write);
  try {
    const code = await runCommandLine(args);
    return { code, stdout, stderr };
  } finally {
    log.mockRestore();
    error.mockRestore();
    write.mockRestore();
  }
}
