// Builds a package for use outside of this repository: `dist/index.js`, one ES module, and the types beside it.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const TYPES = [
  ['--noEmit', 'false'],
  ['--declaration', '--emitDeclarationOnly'],
  ['--target', 'es2022'],
  ['--lib', 'es2023'],
  ['--module', 'nodenext'],
  ['--moduleResolution', 'nodenext'],
  ['--types', 'node'],
  ['--allowImportingTsExtensions', '--strict', '--skipLibCheck', '--ignoreConfig'],
].flat();

/**
 * @param {string} directory the package's
 * @param {readonly string[]} external packages that whoever installs it has
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
    external: [...external],
  });
  const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
  execFileSync(process.execPath, [tsc, ...TYPES, '--outDir', dist, entry], { stdio: 'inherit' });
  // tsc leaves the endings of imports as they are in declarations.
  for (const name of readdirSync(dist).filter((file) => file.endsWith('.d.ts'))) {
    const path = join(dist, name);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(from '\.\/[^']+)\.ts'/g, "$1.js'"));
  }
}
