import { afterAll, vi } from 'vitest';
import { type Ministack, startMinistackService } from './ministack.ts';

/**
 * One or more services of MiniStack for the tests of a file. Undefined if it cannot be started, as without Python: its
 * tests are skipped then. In CI that fails. MiniStack ends with the tests of the file.
 */
export async function ministackOrSkip(
  services: 'dynamodb' | 'sqs' | 'sqs,events,lambda' | 'monitoring',
): Promise<Pick<Ministack, 'endpoint'> | undefined> {
  // MiniStack answers its calls one after another, in Python: on a busy machine a test with a thousand calls takes
  // minutes.
  vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 });
  try {
    const ministack = await startMinistackService(services);
    afterAll(() => ministack.stop());
    return ministack;
  } catch (error) {
    if (process.env.CI !== undefined) throw error;
    return undefined;
  }
}
