import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import './.ci/aws-sdk.mjs';
import { moduleCache } from './.ci/module-cache.mjs';
import { LongestFirst } from './test/support/longest-first.ts';
import { SkipReport } from './test/support/skip-report.ts';

/**
 * Files that replace modules, or the clock and the chance of their whole process, or that weigh its memory: a collection
 * in a process that has run hundreds of files takes ten times as long.
 */
const ALONE = [
  'packages/cli/test/user.test.ts',
  'packages/cloudflare/test/histories/histories.test.ts',
  'packages/store-*/test/counted-memory.test.ts',
  'test/behaviour/clock-steps.test.ts',
  'test/faults/*.test.ts',
];

/** What stands around the core: `npm test` leaves it to `npm run test:all`, and to `npm test -- FOLDER`. */
const AROUND_CORE = [
  'extensions/**',
  'loadtest/**',
  'test/{bridges,browser,cluster,costs,emulated-aws,portal,soak}/**',
  'web-client/**',
];
const left = process.env.APUS_TESTS === 'core' ? AROUND_CORE : [];

/** The behaviour suite runs at each door. */
const EACH_DOOR = './test/support/each-door.ts';

const IS_CI = process.env.CI !== undefined;

export default defineConfig({
  // Workspace packages are read from their sources: nothing has to be built before a test.
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    // Half of the tests wait for a network, a program or a timer: six workers keep two processors busy. In CI, where more
    // of them run, five do.
    maxWorkers: Math.ceil((IS_CI ? 2.5 : 3) * availableParallelism()),
    // These end what hangs, and judge nothing: a machine may be busy many times over.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', new SkipReport()],
    // A long file that begins last keeps one worker busy while the others wait.
    sequence: { sequencer: LongestFirst },
    // CDK's own rules for templates are half of the time of infra's tests. Outside of CI the tests that are about rules use them.
    env: IS_CI ? {} : { CDK_VALIDATION: 'false' },
    // A worker loads a module once for all of its files: to load it for each of them took longer than most tests. So a
    // test's support registers what it ends with the test (`onTestFinished`), and not where its module is loaded.
    isolate: false,
    // The next run, and the next project, read what was made of a source that has not changed: half of the time of an import.
    experimental: { fsModuleCache: true, fsModuleCachePath: moduleCache() },
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          runner: EACH_DOOR,
          include: [
            '{packages,extensions}/*/test/**/*.test.ts',
            'web-client/test/**/*.test.ts',
            'loadtest/**/test/**/*.test.ts',
            'test/**/*.test.ts',
            'infra/test/**/*.test.ts',
          ],
          exclude: [...configDefaults.exclude, ...ALONE, ...left],
        },
      },
      { extends: true, test: { name: 'alone', runner: EACH_DOOR, include: ALONE, isolate: true } },
    ],
  },
});
