// Builds the attacks and the broker with nothing but Node.js and esbuild, attacks it, and prints by how much it grew.
// `node test/attacks/run.mjs [APUS_JS]`: another build of `apus.js`, as that of an earlier version, is attacked instead.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundle } from '../../.ci/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = await bundle('attacks', [join(here, 'main.ts')]);
const { main } = await import(pathToFileURL(join(out, 'main.mjs')).href);
await main(process.argv[2] ?? join(here, '../../packages/cli/dist/apus.js'));
