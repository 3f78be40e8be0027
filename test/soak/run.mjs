// One malicious identity beside honest ones, at both doors: `npm run soak -- --minutes 60`. See docs/generated/security.md.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, run } from '../../.ci/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = await bundle('soak', [join(here, 'main.ts'), join(here, 'attacker.ts')]);
run(join(out, 'main.mjs'), { NODE_NO_WARNINGS: '1' });
