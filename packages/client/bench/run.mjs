// What the transport does to throughput, frames and acknowledgements. See the package's README.
import { fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
// Below the packages that it leaves outside, so that it finds them.
const out = join(here, '../../../node_modules/.cache/apus/bench-client');

mkdirSync(out, { recursive: true });
await build({
  entryPoints: [join(here, 'measure.ts')],
  outdir: out,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
});

fork(join(out, 'measure.mjs'), process.argv.slice(2), { stdio: 'inherit' }).once('exit', (code) => {
  process.exitCode = code ?? 1;
});
