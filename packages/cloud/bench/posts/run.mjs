// CPU of the worker for each delivery, beside that of the obvious way, in one run. See docs/fan-out.md.
import { fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '../../../../node_modules/.cache/apus/bench-posts');

mkdirSync(out, { recursive: true });
await build({
  entryPoints: [join(here, 'measure.ts'), join(here, 'gateway.ts')],
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

const measure = fork(join(out, 'measure.mjs'), process.argv.slice(2), {
  stdio: 'inherit',
  env: { ...process.env, NODE_NO_WARNINGS: '1' },
});
measure.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
