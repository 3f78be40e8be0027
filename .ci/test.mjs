// `npm test`: the tests of the core. With arguments of Vitest, and in CI, any test: `npm test -- loadtest/`.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const args = process.argv.slice(2);
const isCoreAlone = args.length === 0 && process.env.CI === undefined;
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const env = isCoreAlone ? { ...process.env, APUS_TESTS: 'core' } : process.env;
const { status } = spawnSync(process.execPath, [vitest, 'run', ...args], { stdio: 'inherit', env });
if (isCoreAlone)
  console.log(
    'This was the core. `npm run test:all` also tests the page, the extensions and the load tests.',
  );
process.exit(status ?? 1);
