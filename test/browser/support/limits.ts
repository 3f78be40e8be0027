import { vi } from 'vitest';

/** How long what must come is waited for, by Playwright and by `eventually`: a busy machine may need many times what an idle one does. */
export const PATIENCE_MS = 30_000;

/** What is not found is named before. */
const TEST_MS_MAX = 180_000;

/** The page is built first, and brokers are started. */
const HOOK_MS_MAX = 180_000;

/** For the tests and hooks of the file that are defined after this. */
export function allowForBusyMachine(): void {
  vi.setConfig({ testTimeout: TEST_MS_MAX, hookTimeout: HOOK_MS_MAX });
}
