import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests of a deployed broker; `run.ts` deploys it. One file at a time: the emulator has the machine to share. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['tests/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
