import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CommandError } from './command-error.ts';

/**
 * The folder is inside one that `npm ci` removes, so no outdated version survives. The path works from `dist` and from
 * here.
 */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/apus/', import.meta.url));
const INSTALL_MS_MAX = 10 * 60_000;

const run = promisify(execFile);

/**
 * Installs a program of the Python Package Index into a virtual environment of its own, once. Resolves with the
 * environment's interpreter.
 *
 * @throws {CommandError} that names the missing part: Python, its venv module, or the index
 */
export async function ensurePythonPackage(name: string, version: string): Promise<string> {
  const place = join(CACHE, `${name}-${version}`);
  const python = join(place, 'bin', 'python');
  if (existsSync(place)) return python;
  await mkdir(CACHE, { recursive: true });
  // Installed beside its place and then renamed: if two install at once, one wins, and neither sees an incomplete
  // environment.
  const beside = await mkdtemp(join(CACHE, 'installing-'));
  try {
    await install(beside, `${name}==${version}`);
    await rename(beside, place);
  } catch (error) {
    await rm(beside, { recursive: true, force: true });
    if (!existsSync(place)) throw error;
  }
  return python;
}

async function install(place: string, requirement: string): Promise<void> {
  console.error(`Installing ${requirement} …`);
  try {
    await run('python3', ['-m', 'venv', place]);
  } catch (error) {
    throw new CommandError(
      `Python 3.10 or later with its venv module is needed (on Debian: apt-get install python3-venv). ${lastLineOf(error)}`,
      { cause: error },
    );
  }
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', requirement];
  try {
    await run(join(place, 'bin', 'python'), pip, { timeout: INSTALL_MS_MAX });
  } catch (error) {
    throw new CommandError(
      `${requirement} could not be installed from the Python Package Index. Can pip reach it from here? ${lastLineOf(error)}`,
      { cause: error },
    );
  }
}

/** The last line of a program's output is usually the reason of its failure. */
function lastLineOf(error: unknown): string {
  const { stderr = '', message = String(error) } = error as { stderr?: string; message?: string };
  return stderr.trim().split('\n').at(-1) || message;
}
