// The files that a build is made of, and a hash of them: `prepare.mjs` and the tests build only what has changed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * A hash of all files that `packages/cli/build.mjs` reads.
 * @returns {string}
 */
export function hashOfCommand() {
  return hashOf(['package-lock.json', ...['packages', 'extensions', 'web-client'].flatMap(sourcesBelow)]);
}

/** @param {string[]} paths @returns {string} */
export function hashOf(paths) {
  const hash = createHash('sha256').update(process.versions.modules);
  for (const path of paths) hash.update(path).update(readFileSync(join(ROOT, path)));
  return hash.digest('hex');
}

const NOT_BUILT = ['node_modules', 'dist', 'test', 'contract', 'soak', 'bench'];

/** @param {string} folder @returns {string[]} */
function sourcesBelow(folder) {
  if (!existsSync(join(ROOT, folder))) return [];
  const isBuilt = folder.split(sep).includes('src');
  return readdirSync(join(ROOT, folder))
    .filter((name) => (isBuilt || !NOT_BUILT.includes(name)) && !name.endsWith('.md'))
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(join(ROOT, path)).isDirectory() ? sourcesBelow(path) : [path]))
    .sort();
}
