// Builds the benchmark with nothing but Node.js and esbuild, and runs it: `npm run bench:cloud -- --help`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../../..');
const out = join(root, 'node_modules/.cache/apus/bench-cloud');

mkdirSync(out, { recursive: true });
await build({
  entryPoints: [join(here, 'main.ts'), join(here, 'services.ts')],
  outdir: out,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  conditions: ['source'],
  // Their native parts are optional.
  external: ['bufferutil', 'utf-8-validate'],
  banner: {
    js: "import { createRequire as benchCreateRequire } from 'node:module';\nconst require = benchCreateRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
// What the SDK says about next year's Node.js is for us, and not for whoever measures.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
const { main } = await import(pathToFileURL(join(out, 'main.mjs')).href);
const page = pathToFileURL(join(root, 'docs/costs.md'));
process.exitCode = await main(process.argv.slice(2), page, join(out, 'services.mjs'));
