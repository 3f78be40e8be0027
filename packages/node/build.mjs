// Builds what `npm start` runs: the command in one file, and the page that it serves.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
/** `npm run build` writes to `dist`; the tests build for themselves, elsewhere. */
const dist = resolve(process.argv[2] ?? join(here, 'dist'));
const common = {
  bundle: true,
  minify: true,
  sourcemap: 'linked',
  // Workspace packages are taken from their sources.
  conditions: ['source'],
  logLevel: 'warning',
};

rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, 'page'), { recursive: true });
await Promise.all([
  build({
    ...common,
    entryPoints: [join(here, 'src', 'cli', 'main.ts')],
    outfile: join(dist, 'apus.js'),
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Packages written for CommonJS find `require`; the optional native parts of `ws` are not needed.
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as apusCreateRequire } from 'node:module';\nconst require = apusCreateRequire(import.meta.url);",
    },
    // `lmdb` is native, and loaded only with `--data`.
    external: ['bufferutil', 'utf-8-validate', 'lmdb'],
  }),
  build({
    ...common,
    entryPoints: [join(here, 'page', 'page.ts')],
    outfile: join(dist, 'page', 'page.js'),
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
  }),
]);
for (const file of ['index.html', 'page.css']) cpSync(join(here, 'page', file), join(dist, 'page', file));
