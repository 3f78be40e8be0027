import { validationError } from '../errors.ts';
import type { Key } from '../storage/key-schema.ts';

/** A batch may name an item once. */
export function refuseDuplicates(keys: readonly Key[]): void {
  const texts = new Set(keys.map(({ attributes }) => JSON.stringify(attributes)));
  if (texts.size < keys.length) {
    throw validationError('Provided list of item keys contains duplicates');
  }
}
