import { levelCount } from '@apus/mqtt';
import type { FilterName } from './session.ts';

/** Few filters have more levels. */
const LEVELS_OF_ONE = 16;
const CHARACTERS_OF_ONE = 1024;

/**
 * How many subscriptions one counts as: one for each 16 levels, or 1,024 characters, that it begins. Memory and time
 * to match grow with its levels, of which it may have 201 [SEC-MEMORY-4].
 */
export function subscriptionWeight({ topicFilter, shareGroup = '' }: FilterName): number {
  const characters = topicFilter.length + shareGroup.length;
  return Math.max(
    Math.ceil(levelCount(topicFilter) / LEVELS_OF_ONE),
    Math.ceil(characters / CHARACTERS_OF_ONE),
  );
}
