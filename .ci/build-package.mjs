// Builds a package for use outside of this repository: `dist/index.js`, one ES module, and its types; one more for each
// further entry.
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { writeTypes } from './write-types.mjs';

/** The licence asks for a copy in every package. */
export const LICENSE = fileURLToPath(new URL('../LICENSE', import.meta.url));

/**
 * @param {string} directory of the package
 * @param {readonly string[]} external packages that are installed beside it; ours are built in
 * @param {readonly string[]} entries `src/NAME.ts` of each
 */
export async function buildPackage(directory, external, entries = ['index']) {
  const dist = join(directory, 'dist');
  const sources = entries.map((name) => join(directory, 'src', `${name}.ts`));
  rmSync(dist, { recursive: true, force: true });
  await build({
    entryPoints: sources,
    outdir: dist,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    sourcemap: true,
    conditions: ['source'],
    external: [...external],
  });
  for (const source of sources) writeTypes(source, dist);
  copyFileSync(LICENSE, join(dist, 'LICENSE'));
}
