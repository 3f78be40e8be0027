import { expect } from 'vitest';
import { PATIENCE_MS } from './limits.ts';

/**
 * Asks again until what follows is true, as often as a busy machine needs.
 *
 * @param intervalMs between two looks, where each asks a broker that bounds the requests of a second
 */
export function eventually<T>(read: () => T | Promise<T>, intervalMs = 50) {
  return expect.poll(read, { timeout: PATIENCE_MS, interval: intervalMs });
}
