// Processor time, wake-up and memory of the object door beside the node door: `npm run bench:doors -- --help`.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, ownUrls, run } from '../../../.ci/bundle.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = await bundle('bench-doors', [join(here, 'measure.ts'), join(here, 'node-broker.ts')], {
  plugins: [ownUrls],
  external: ['esbuild', 'workerd', 'lmdb'],
});
run(join(out, 'measure.mjs'), {
  APUS_NODE_BROKER: join(out, 'node-broker.mjs'),
  APUS_BARE_WORKER: join(here, 'bare-worker.ts'),
});
