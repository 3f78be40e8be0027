import { fileURLToPath } from 'node:url';
import { buildPackage } from '../../.ci/build-package.mjs';

const [, , dist] = process.argv;
await buildPackage(
  fileURLToPath(new URL('.', import.meta.url)),
  ['mqtt'],
  ['index', 'resume', 'fallback'],
  dist,
);
