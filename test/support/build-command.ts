import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isRunning } from './is-running.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** A folder below node_modules, so that a build finds the packages that it does not contain. */
const BUILDS = join(ROOT, 'node_modules', '.cache', 'apus', 'command');
/** Longer than any run of tests. */
const KEPT_MS = 24 * 3600 * 1000;
const POLL_MS = 50;

/**
 * Builds the output that `npm start` runs, unless it exists, and returns the folder of `apus.js` and the page. All
 * tests share it.
 */
export async function buildCommand(): Promise<string> {
  const sources: string = new URL('../../.ci/sources.mjs', import.meta.url).href;
  const { hashOfCommand } = (await import(sources)) as { hashOfCommand(): string };
  const directory = join(BUILDS, hashOfCommand());
  if (!existsSync(directory)) await buildOnce(directory);
  return directory;
}

/** Several workers of a run need the command at the same time: one builds it, and the others wait. */
async function buildOnce(directory: string): Promise<void> {
  await mkdir(BUILDS, { recursive: true });
  const lock = `${directory}.lock`;
  while (!(await taken(lock))) {
    if (existsSync(directory)) return;
    await sleep(POLL_MS);
  }
  try {
    if (!existsSync(directory)) await buildTo(directory);
  } finally {
    await rm(lock, { force: true });
  }
}

/**
 * Whether the lock is this process's now. The lock of a process that has ended is removed. It is a link to the process's
 * id, which is made in one step: a file could be left without its text.
 */
async function taken(lock: string): Promise<boolean> {
  try {
    await symlink(String(process.pid), lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const holder = await readlink(lock).catch(() => undefined);
    if (holder !== undefined && !isRunning(Number(holder))) await rm(lock, { force: true });
    return false;
  }
}

/** Two may still build at the same time if a lock was left behind: then the first build is used. */
async function buildTo(directory: string): Promise<void> {
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
