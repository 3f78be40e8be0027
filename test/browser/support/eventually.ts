import { expect } from 'vitest';
import { PATIENCE_MS } from './limits.ts';

/** Asks again until what follows is true, as often as a busy machine needs. */
export function eventually<T>(read: () => T | Promise<T>) {
  return expect.poll(read, { timeout: PATIENCE_MS });
}
