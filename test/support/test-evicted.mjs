// `npm run test:evicted -- --seed 7`: the behaviour suite in objects that lose their memory at random. Further arguments
// are Vitest's, as `test/behaviour/will.test.ts`.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

/** About what an object does not have (object-door.md), or what it may forget: counts, the log's, and guesses of passwords. */
const NOT_IN_AN_OBJECT = [
  ...['attacks', 'dearest-packets', 'failure', 'host-header', 'payload-schemas', 'users-file', 'ways'],
  ...['dropped', 'hook-fairness', 'log'],
];

const { values, positionals } = parseArgs({
  options: { seed: { type: 'string', default: String(1 + Math.floor(Math.random() * 1_000_000)) } },
  allowPositionals: true,
});
const suite = readdirSync('test/behaviour')
  .filter((name) => name.endsWith('.test.ts') && !NOT_IN_AN_OBJECT.includes(name.replace('.test.ts', '')))
  .map((name) => `test/behaviour/${name}`);
const files = positionals.length > 0 ? positionals : suite;
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
console.log(`--seed ${values.seed}`);
const { status } = spawnSync(process.execPath, [vitest, 'run', ...files], {
  stdio: 'inherit',
  env: { ...process.env, APUS_TEST_DOOR: 'evicted', APUS_FAULT_SEED: values.seed },
});
process.exit(status ?? 1);
