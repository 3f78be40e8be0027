import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests of a deployed broker; `run.ts` deploys it. One file at a time: the emulator has the machine to share. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['tests/**/*.test.ts', 'again/**/*.test.ts'],
    fileParallelism: false,
    // On a busy machine an emulated function can exceed its five seconds: its client is cut, as in the cloud.
    retry: 1,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
