// Measures how many requests the in-memory DynamoDB answers, directly and behind AWS's SDK. See the package's README.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, run } from '../../../.ci/bundle.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = await bundle('bench-emulator', [join(here, 'measure.ts')]);
run(join(out, 'measure.mjs'));
