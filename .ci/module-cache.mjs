// The folder in which Vitest caches each transformed source for its next run.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf, ROOT } from './sources.mjs';

const CACHES = join(ROOT, 'node_modules', '.cache', 'apus', 'vitest');

/**
 * A folder for the present manifests of the packages, which determine where an import leads. Vitest itself checks the
 * source, its own configuration and the lockfile. Folders for other manifests are removed.
 *
 * @returns {string}
 */
export function moduleCache() {
  const name = hashOf(['package.json', ...workspaces().map((folder) => join(folder, 'package.json'))]);
  mkdirSync(CACHES, { recursive: true });
  for (const other of readdirSync(CACHES))
    if (other !== name) rmSync(join(CACHES, other), { recursive: true, force: true });
  return join(CACHES, name);
}

/** @returns {string[]} */
function workspaces() {
  const { workspaces: given } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return given.flatMap((/** @type {string} */ folder) => {
    if (!folder.endsWith('/*')) return [folder];
    const parent = folder.slice(0, -'/*'.length);
    return readdirSync(join(ROOT, parent)).map((name) => join(parent, name));
  });
}
