import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Workspace packages are read from their sources: nothing has to be built before a test.
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
