// Builds the bench of the object door with nothing but Node.js and esbuild, and runs it: `npm run bench:object -- --help`.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle, ownUrls } from '../../../.ci/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const external = ['esbuild', 'workerd', 'lmdb'];
const out = await bundle('bench-object', [join(here, 'main.ts')], { plugins: [ownUrls], external });
const { main } = await import(pathToFileURL(join(out, 'main.mjs')).href);
process.exitCode = await main(process.argv.slice(2));
