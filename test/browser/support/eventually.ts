import { expect } from 'vitest';
import { PATIENCE_MS } from './limits.ts';

/**
 * Asks again until the assertion holds, for as long as a busy machine needs.
 *
 * @param intervalMs between two attempts, for a broker that limits requests per second
 */
export function eventually<T>(read: () => T | Promise<T>, intervalMs = 50) {
  return expect.poll(read, { timeout: PATIENCE_MS, interval: intervalMs });
}
