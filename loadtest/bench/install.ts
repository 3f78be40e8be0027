import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CannotInstall, type Place } from './brokers/broker.ts';

/** The last lines of an installer's output, when it fails. */
const LINES_MAX = 8;

/** A build from sources takes minutes; an installer that asks a question would wait for ever. */
const INSTALL_MS_MAX = 15 * 60_000;

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Exit codes besides 0 that are no failure. */
  readonly fineCodes?: readonly number[];
}

/** Does the work once for each version: a stamp in the folder records it. */
export async function once(
  { folder, say }: Place,
  name: string,
  title: string,
  work: () => Promise<void>,
): Promise<void> {
  const stamp = join(folder, `installed-${name}`);
  if (existsSync(stamp)) return;
  say(`Installing ${title} into ${folder} (once) …`);
  await work();
  writeFileSync(stamp, '');
}

/**
 * Runs an installer, and returns its standard output.
 *
 * @throws {CannotInstall} with its last lines
 */
export function run({ command, args, cwd, fineCodes = [] }: Command, stop?: AbortSignal): Promise<string> {
  const signal = AbortSignal.any([
    AbortSignal.timeout(INSTALL_MS_MAX),
    ...(stop === undefined ? [] : [stop]),
  ]);
  const child = spawn(command, args, { cwd, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    said += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new CannotInstall(`\`${command} ${args.join(' ')}\` ${why}`));
    child.on('error', (error: NodeJS.ErrnoException) =>
      fail(
        error.code === 'ENOENT' ? 'cannot be run: there is no such program here' : `failed: ${error.message}`,
      ),
    );
    child.on('close', (code) =>
      code === 0 || fineCodes.includes(code ?? -1) ? resolve(stdout) : fail(`failed:\n${lastLines(said)}`),
    );
  });
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-LINES_MAX).join('\n');
}
