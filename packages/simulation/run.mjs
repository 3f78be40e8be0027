// Builds the simulation with nothing but Node.js and esbuild, and runs it: `npm run simulate -- --help`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = join(here, '../../node_modules/.cache/apus/simulation');

mkdirSync(out, { recursive: true });
await build({
  entryPoints: [join(here, 'src/main.ts')],
  outdir: out,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  conditions: ['source'],
  logLevel: 'warning',
});
const { main } = await import(pathToFileURL(join(out, 'main.mjs')).href);
process.exitCode = main(process.argv.slice(2));
