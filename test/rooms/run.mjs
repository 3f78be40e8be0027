// Measures the cost of a join and of a tick in rooms of up to 10,000 watchers at the node door:
// `node test/rooms/run.mjs`.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, run } from '../../.ci/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = await bundle('rooms', [join(here, 'main.ts'), join(here, 'clients.ts')]);
run(join(out, 'main.mjs'), { NODE_NO_WARNINGS: '1' });
