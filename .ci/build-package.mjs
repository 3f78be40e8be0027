// Builds a package for use outside of this repository: `dist/index.js`, one ES module, and its types; one more for each
// further entry. `dist/cjs/` has the same as CommonJS, for programs and tests that cannot load ES modules.
import { copyFileSync, cpSync, rmSync, writeFileSync } from 'node:fs';
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
 * @param {string} dist
 */
export async function buildPackage(directory, external, entries = ['index'], dist = join(directory, 'dist')) {
  const commonJs = join(dist, 'cjs');
  const sources = entries.map((name) => join(directory, 'src', `${name}.ts`));
  rmSync(dist, { recursive: true, force: true });
  const options = { entryPoints: sources, bundle: true, target: 'es2022', minify: true, sourcemap: true };
  const packages = { conditions: ['source'], external: [...external] };
  await build({ ...options, ...packages, format: 'esm', outdir: dist });
  await build({ ...options, ...packages, format: 'cjs', outdir: commonJs });
  for (const source of sources) writeTypes(source, dist);
  cpSync(join(dist, 'types'), join(commonJs, 'types'), { recursive: true });
  for (const name of entries) copyFileSync(join(dist, `${name}.d.ts`), join(commonJs, `${name}.d.ts`));
  writeFileSync(join(commonJs, 'package.json'), '{ "type": "commonjs" }\n');
  copyFileSync(LICENSE, join(dist, 'LICENSE'));
}
