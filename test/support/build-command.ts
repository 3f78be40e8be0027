import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Below node_modules, so that a build finds the packages that it does not contain. */
const BUILDS = join(ROOT, 'node_modules', '.cache', 'apus', 'command');
/** No run of tests takes longer. */
const KEPT_MS = 24 * 3600 * 1000;

/** Builds what `npm start` runs, unless it is there, and answers the folder of `apus.js` and the page. All tests share it. */
export async function buildCommand(): Promise<string> {
  const sources: string = new URL('../../.ci/sources.mjs', import.meta.url).href;
  const { hashOfCommand } = (await import(sources)) as { hashOfCommand(): string };
  const directory = join(BUILDS, hashOfCommand());
  if (!existsSync(directory)) await buildTo(directory);
  return directory;
}

/** Two workers may build at the same time: the first one's build is used. */
async function buildTo(directory: string): Promise<void> {
  await mkdir(BUILDS, { recursive: true });
  const beside = await mkdtemp(join(BUILDS, '.new-'));
  await promisify(execFile)(process.execPath, [join(ROOT, 'packages', 'cli', 'build.mjs'), beside]);
  await rename(beside, directory).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    await rm(beside, { recursive: true });
  });
  await removeOld();
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(BUILDS)) {
    const path = join(BUILDS, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true });
  }
}
