import { it } from 'vitest';
import { type Ministack, startMinistackService } from './ministack.ts';

/**
 * One service of an AWS that is not ours, for the tests of a file. Undefined where it cannot be started: then a skipped
 * test says why, because whoever has no Python can still work on the rest. In CI that fails, for there somebody relies
 * on it.
 */
export async function ministackOrSkip(service: 'dynamodb' | 'sqs'): Promise<Ministack | undefined> {
  try {
    return await startMinistackService(service);
  } catch (error) {
    if (process.env.CI !== undefined) throw error;
    it.skip(`needs MiniStack, which could not be started: ${error}`, () => {});
    return undefined;
  }
}
