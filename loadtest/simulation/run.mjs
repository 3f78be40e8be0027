// Builds the simulation with nothing but Node.js and esbuild, and runs it: `npm run simulate -- --help`.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from '../../.ci/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = await bundle('simulation', [join(here, 'src/main.ts')]);
const { main } = await import(pathToFileURL(join(out, 'main.mjs')).href);
process.exitCode = main(process.argv.slice(2));
