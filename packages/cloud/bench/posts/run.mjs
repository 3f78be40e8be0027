// CPU of the worker for each delivery, beside that of the obvious way, in one run. See docs/fan-out.md.
import { fork } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../../../.ci/bundle.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = await bundle('bench-posts', [join(here, 'measure.ts'), join(here, 'gateway.ts')]);

const measure = fork(join(out, 'measure.mjs'), process.argv.slice(2), {
  stdio: 'inherit',
  env: { ...process.env, NODE_NO_WARNINGS: '1' },
});
measure.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
