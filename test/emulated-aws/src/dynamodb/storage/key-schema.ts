import { invalidValue, type ServiceError, validationError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { type AttributeValue, type Item, newItem, typeOf } from '../values/attribute-value.ts';
import { valueBytes } from '../values/size.ts';

export type KeyType = 'S' | 'N' | 'B';

export interface KeyAttribute {
  readonly name: string;
  readonly type: KeyType;
}

export interface KeySchema {
  readonly partition: KeyAttribute;
  readonly sort: KeyAttribute | undefined;
}

/** The place of an item. */
export interface Key {
  /** The partition key's value as text: one type has one text for a value. */
  readonly partition: string;
  readonly sort: AttributeValue | undefined;
  /** The attributes of the key alone. */
  readonly attributes: Item;
}

export function keyAttributesOf({ partition, sort }: KeySchema): readonly KeyAttribute[] {
  return sort === undefined ? [partition] : [partition, sort];
}

/** A key by itself: all of its attributes and no other. Throws a ValidationException. */
export function keyOf(schema: KeySchema, sent: Item): Key {
  const attributes = keyAttributesOf(schema);
  if (Object.keys(sent).length !== attributes.length) throw notThisSchema();
  for (const { name, type } of attributes) {
    const value = sent[name];
    if (value?.[type] === undefined) throw notThisSchema();
    if (isEmpty(value)) throw emptyKeyError(name, type);
  }
  checkSizes(schema, sent);
  return keyIn(schema, sent);
}

/** The key of an item that is to be put. Throws a ValidationException. */
export function keyOfItem(schema: KeySchema, item: Item): Key {
  for (const { name, type } of keyAttributesOf(schema)) {
    const value = item[name];
    if (value === undefined) throw invalidValue(`Missing the key ${name} in the item`);
    if (value[type] === undefined) {
      throw invalidValue(`Type mismatch for key ${name} expected: ${type} actual: ${typeOf(value)}`);
    }
    if (isEmpty(value)) throw emptyKeyError(name, type);
  }
  checkSizes(schema, item);
  return keyIn(schema, item);
}

/** The key of an item that is stored. */
export function keyIn({ partition, sort }: KeySchema, item: Item): Key {
  const attributes = newItem();
  const value = item[partition.name] ?? {};
  attributes[partition.name] = value;
  const sortValue = sort === undefined ? undefined : item[sort.name];
  if (sort !== undefined && sortValue !== undefined) attributes[sort.name] = sortValue;
  return { partition: partitionText(value), sort: sortValue, attributes };
}

export function partitionText({ S, N, B }: AttributeValue): string {
  return S ?? N ?? B ?? '';
}

function checkSizes({ partition, sort }: KeySchema, item: Item): void {
  if (valueBytes(item[partition.name] ?? {}) > LIMITS.partitionKeyBytesMax) {
    throw invalidValue(
      `Size of hashkey has exceeded the maximum size limit of${LIMITS.partitionKeyBytesMax} bytes`,
    );
  }
  if (sort === undefined || valueBytes(item[sort.name] ?? {}) <= LIMITS.sortKeyBytesMax) return;
  throw invalidValue(
    `Aggregated size of all range keys has exceeded the size limit of ${LIMITS.sortKeyBytesMax} bytes`,
  );
}

function isEmpty(value: AttributeValue): boolean {
  return value.S === '' || value.B === '';
}

export function emptyKeyError(name: string, type: KeyType): ServiceError {
  const what = type === 'S' ? 'string' : 'binary';
  return validationError(
    `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${what} value. Key: ${name}`,
  );
}

function notThisSchema() {
  return validationError('The provided key element does not match the schema');
}
