// Builds a package for use outside of this repository: `dist/index.js`, one ES module, and the types beside it.
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { writeTypes } from './write-types.mjs';

/** Goes along with every package, as it asks to. */
export const LICENSE = fileURLToPath(new URL('../LICENSE', import.meta.url));

/**
 * @param {string} directory of the package
 * @param {readonly string[]} external packages that are installed beside it; ours are built in
 */
export async function buildPackage(directory, external) {
  const entry = join(directory, 'src', 'index.ts');
  const dist = join(directory, 'dist');
  rmSync(dist, { recursive: true, force: true });
  await build({
    entryPoints: [entry],
    outfile: join(dist, 'index.js'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    sourcemap: true,
    conditions: ['source'],
    external: [...external],
  });
  writeTypes(entry, dist);
  copyFileSync(LICENSE, join(dist, 'LICENSE'));
}
