import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Writes dist/index.js (one ES module, minified) and the types beside it. */
const directory = fileURLToPath(new URL('.', import.meta.url));
const dist = `${directory}dist`;
rmSync(dist, { recursive: true, force: true });

await build({
  entryPoints: [`${directory}src/index.ts`],
  outfile: `${dist}/index.js`,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  sourcemap: true,
  external: ['mqtt'],
});

const options = [
  '--noEmit',
  'false',
  '--declaration',
  '--emitDeclarationOnly',
  '--target',
  'es2022',
  '--lib',
  'es2023',
];
const modules = [
  '--module',
  'nodenext',
  '--moduleResolution',
  'nodenext',
  '--allowImportingTsExtensions',
  '--types',
  'node',
];
const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
execFileSync(
  process.execPath,
  [
    tsc,
    '--ignoreConfig',
    ...options,
    ...modules,
    '--strict',
    '--skipLibCheck',
    '--outDir',
    dist,
    `${directory}src/index.ts`,
  ],
  { stdio: 'inherit' },
);
// tsc leaves the endings of imports as they are in declarations.
for (const name of readdirSync(dist).filter((file) => file.endsWith('.d.ts'))) {
  const text = readFileSync(`${dist}/${name}`, 'utf8');
  writeFileSync(`${dist}/${name}`, text.replaceAll(/(from '\.\/[^']+)\.ts'/g, "$1.js'"));
}
