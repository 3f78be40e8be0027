// Builds the benchmark with nothing but Node.js and esbuild, and runs it: `npm run bench:cloud -- --help`.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from '../../../.ci/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = await bundle('bench-cloud', [join(here, 'main.ts'), join(here, 'services.ts')]);

const { main } = await import(pathToFileURL(join(out, 'main.mjs')).href);
const page = (path) => pathToFileURL(join(here, '../../..', path));
process.exitCode = await main(
  process.argv.slice(2),
  page('loadtest/results/operations.md'),
  page('docs/costs.md'),
  join(out, 'services.mjs'),
);
