import { fileURLToPath } from 'node:url';
import { buildPackage } from '../../.ci/build-package.mjs';

await buildPackage(fileURLToPath(new URL('.', import.meta.url)), ['aws4fetch']);
