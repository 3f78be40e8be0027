// What a join costs in rooms of up to 10,000 watchers at the node door, and what a tick costs: `node test/rooms/run.mjs`.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, run } from '../../.ci/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = await bundle('rooms', [join(here, 'main.ts'), join(here, 'clients.ts')]);
run(join(out, 'main.mjs'), { NODE_NO_WARNINGS: '1' });
