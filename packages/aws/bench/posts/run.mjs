// CPU of the worker for each delivery, beside that of the obvious way, in one run. See docs/fan-out.md.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, run } from '../../../../.ci/bundle.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = await bundle('bench-posts', [join(here, 'measure.ts'), join(here, 'gateway.ts')]);
run(join(out, 'measure.mjs'), { NODE_NO_WARNINGS: '1' });
