import type { DynamoDbCall } from './faults.ts';
import { keyAttributesOf } from './storage/key-schema.ts';
import type { Tables } from './storage/tables.ts';
import { type Item, newItem } from './values/attribute-value.ts';

/** The subject of a request for a fault; the request has not been validated yet. */
export function subjectOf(
  operation: string,
  sent: unknown,
  environmentId: string | undefined,
  tables: Tables,
): DynamoDbCall {
  const { TableName, RequestItems, Key, Item: put } = actionOf(sent);
  const table = typeof TableName === 'string' ? TableName : Object.keys(record(RequestItems))[0];
  const key = Key ?? (table === undefined ? undefined : keyAmong(put, tables, table));
  return { operation, table, key: key as Item | undefined, environmentId };
}

/** The request itself, or the first action of a transaction. */
function actionOf(sent: unknown): Record<string, unknown> {
  const { TransactItems } = record(sent);
  if (!Array.isArray(TransactItems)) return record(sent);
  return record(Object.values(record(TransactItems[0]))[0]);
}

function keyAmong(put: unknown, tables: Tables, tableName: string): Item | undefined {
  const schema = tables.find(tableName)?.schema;
  if (put === undefined || schema === undefined) return undefined;
  const key = newItem();
  for (const { name } of keyAttributesOf(schema)) key[name] = record(record(put)[name]);
  return key;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
