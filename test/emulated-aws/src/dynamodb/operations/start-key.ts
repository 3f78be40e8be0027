import { ServiceError, validationError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { type Key, type KeySchema, keyOf } from '../storage/key-schema.ts';
import { readItem } from '../values/read-value.ts';

/** The parameter `ExclusiveStartKey`. Throws a ValidationException. */
export function readStartKey(parameters: Parameters, schema: KeySchema): Key | undefined {
  const sent = parameters.map('ExclusiveStartKey');
  if (sent === undefined) return undefined;
  try {
    return keyOf(schema, readItem(sent));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw validationError(`The provided starting key is invalid: ${error.message}`);
  }
}
