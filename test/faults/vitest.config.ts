import { defineConfig } from 'vitest/config';
import '../../.ci/aws-sdk.mjs';

/** The fault run, separate from the tests: it takes as long as requested. */
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['test/{faults,rooms}/*.fault.ts', 'packages/*/test/histories/*.fault.ts'],
    testTimeout: 60_000,
  },
});
