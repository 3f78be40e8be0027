import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../cli/command-error.ts';

/** The folder `infra`, as seen from `dist` and from here alike. */
export const INFRA = fileURLToPath(new URL('../', import.meta.url));

export interface Program {
  /** The message of a failure: `${title} has failed`. */
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Shows the output at once; by default only when the program fails. */
  readonly isLoud?: boolean;
}

/** A program's exit code and its output; the output is empty if it was shown at once. */
export interface Ended {
  readonly code: number | null;
  readonly said: string;
}

/** Runs a program to its end. Returns its output. @throws {CommandError} when it fails, after showing its output */
export async function runProgram(program: Program): Promise<string> {
  const { code, said } = await endOf(program);
  if (code === 0) return said;
  process.stderr.write(said);
  throw new CommandError(`${program.title} has failed (exit code ${code}).`);
}

/** Runs a program to its end, successful or not. */
export async function endOf(program: Program): Promise<Ended> {
  const { command, args, environment = {}, isLoud = false } = program;
  const child = spawn(command, args, {
    cwd: INFRA,
    stdio: ['ignore', isLoud ? 'inherit' : 'pipe', isLoud ? 'inherit' : 'pipe'],
    env: { ...process.env, ...environment },
  });
  const said: Buffer[] = [];
  child.stdout?.on('data', (bytes: Buffer) => said.push(bytes));
  child.stderr?.on('data', (bytes: Buffer) => said.push(bytes));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, said: Buffer.concat(said).toString() };
}
