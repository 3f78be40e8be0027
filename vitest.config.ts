import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import './.ci/aws-sdk.mjs';

export default defineConfig({
  // Workspace packages are read from their sources: nothing has to be built before a test.
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    // Vitest would leave one processor idle, which of two is half of them.
    maxWorkers: availableParallelism(),
    // These end what hangs, and judge nothing: a machine may be busy many times over.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: [
            'packages/*/test/**/*.test.ts',
            'web-client/test/**/*.test.ts',
            'loadtest/**/test/**/*.test.ts',
            'test/**/*.test.ts',
            'infra/test/**/*.test.ts',
          ],
        },
      },
      {
        // The behaviour suite once more, in text frames through the Lambda handlers behind the emulator.
        extends: true,
        test: {
          name: 'gateway',
          include: ['test/behaviour/**/*.test.ts'],
          env: { APUS_TEST_DOOR: 'gateway' },
        },
      },
    ],
  },
});
