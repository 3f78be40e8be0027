import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from './directory.ts';

/** A directory is used in some 20 ms; a process that still works after this time never ends. */
const HUNG_AFTER_MS = 30_000;

/** Uses data directories in a process of its own, whose end by a signal is an outcome and not the end of the tests. */
export class OpenerProcess {
  readonly #program: string;
  #child: ChildProcess | undefined;

  private constructor(program: string) {
    this.#program = program;
    onTestFinished(() => void this.#child?.kill());
  }

  static async make(): Promise<OpenerProcess> {
    const program = join(temporaryDirectory(), 'opener.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('opener.ts', import.meta.url))],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['source'],
      // The native library is found from here.
      alias: { lmdb: import.meta.resolve('lmdb') },
      external: ['file:*'],
    });
    return new OpenerProcess(program);
  }

  /** `used`, the error, or the signal that has ended the process. */
  async use(directory: string): Promise<string> {
    this.#child ??= fork(this.#program, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    const child = this.#child;
    return await new Promise((resolve) => {
      const hung = setTimeout(() => child.kill('SIGKILL'), HUNG_AFTER_MS);
      const ended = (code: number | null, signal: string | null): void => {
        clearTimeout(hung);
        this.#child = undefined;
        resolve(signal ?? `status ${code}`);
      };
      child.once('exit', ended);
      child.once('message', (outcome) => {
        clearTimeout(hung);
        child.off('exit', ended);
        resolve(String(outcome));
      });
      child.send(directory);
    });
  }
}
