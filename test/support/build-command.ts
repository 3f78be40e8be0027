import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Builds what `npm start` runs, and answers the folder of `apus.js` and the page: whoever asks for it removes it. */
export async function buildCommand(): Promise<string> {
  // Below node_modules, so that it finds the packages that it does not contain.
  const directory = await mkdtemp(join(ROOT, 'node_modules', '.apus-test-'));
  await promisify(execFile)(process.execPath, [join(ROOT, 'packages', 'cli', 'build.mjs'), directory]);
  return directory;
}
