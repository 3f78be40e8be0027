import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** The command, as `npm run build` makes it. */
const APUS = fileURLToPath(new URL('../../../packages/cli/dist/apus.js', import.meta.url));

export interface Said {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** Runs `apus` to its end, as the owner would; it is killed when the test is over. */
export async function apus(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Said> {
  const child: ChildProcess = spawn(process.execPath, [APUS, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the process has no standard output');
  const [out, err, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
  return { code, lines: out.trimEnd().split('\n'), stderr: err };
}
