import type { Call } from '../call.ts';
import type { Parameters } from '../parameters.ts';
import { type Key, keyOf } from '../storage/key-schema.ts';
import type { Table } from '../storage/table.ts';
import type { ReturnConsumedCapacity } from '../usage.ts';
import { readItem } from '../values/read-value.ts';

/** Returns the operation's answer, as JSON. Throws a ServiceError. */
export type Operation = (call: Call, sent: unknown) => object;

export const COMMON = ['TableName', 'ReturnConsumedCapacity'] as const;

export function returnConsumedCapacity(parameters: Parameters): ReturnConsumedCapacity {
  return parameters.oneOf('ReturnConsumedCapacity', ['NONE', 'TOTAL', 'INDEXES']);
}

/** The parameter `Key`. */
export function readKey(parameters: Parameters, table: Table): Key {
  return keyOf(table.schema, readItem(parameters.requiredMap('Key')));
}
