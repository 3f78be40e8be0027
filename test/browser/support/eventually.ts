import { expect } from 'vitest';

/** As long as Playwright waits for what it looks for. */
const TIMEOUT_MS = 10_000;

/** Asks again until what follows is true, as often as a busy machine needs. */
export function eventually<T>(read: () => T | Promise<T>) {
  return expect.poll(read, { timeout: TIMEOUT_MS });
}
