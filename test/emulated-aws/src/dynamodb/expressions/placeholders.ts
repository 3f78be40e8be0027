import { ServiceError, validationError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import { readValue } from '../values/read-value.ts';
import { valueBytes } from '../values/size.ts';
import { ExpressionError } from './expression-error.ts';

/** The names and values that a request's expressions may refer to, and those that no expression has used yet. */
export class Placeholders {
  readonly #names: ReadonlyMap<string, string>;
  readonly #values: ReadonlyMap<string, AttributeValue>;
  readonly #unusedNames: Set<string>;
  readonly #unusedValues: Set<string>;

  /** @param names and values as sent: undefined, or objects. Throws a ValidationException. */
  constructor(names: unknown, values: unknown) {
    this.#names = readNames(names);
    this.#values = readValues(values);
    this.#unusedNames = new Set(this.#names.keys());
    this.#unusedValues = new Set(this.#values.keys());
  }

  name(placeholder: string): string {
    const name = this.#names.get(placeholder);
    if (name === undefined) {
      throw new ExpressionError(
        `An expression attribute name used in the document path is not defined; attribute name: ${placeholder}`,
      );
    }
    this.#unusedNames.delete(placeholder);
    return name;
  }

  value(placeholder: string): AttributeValue {
    const value = this.#values.get(placeholder);
    if (value === undefined) {
      throw new ExpressionError(
        `An expression attribute value used in expression is not defined; attribute value: ${placeholder}`,
      );
    }
    this.#unusedValues.delete(placeholder);
    return value;
  }

  /** Call it after the last expression. */
  refuseUnused(): void {
    refuse('ExpressionAttributeNames', this.#unusedNames);
    refuse('ExpressionAttributeValues', this.#unusedValues);
  }
}

function refuse(parameter: string, unused: ReadonlySet<string>): void {
  if (unused.size === 0) return;
  throw validationError(
    `Value provided in ${parameter} unused in expressions: keys: {${[...unused].join(', ')}}`,
  );
}

function readNames(sent: unknown): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  let bytes = 0;
  for (const [key, name] of entriesOf('ExpressionAttributeNames', sent, '#')) {
    if (typeof name !== 'string' || name === '') {
      throw validationError(
        `ExpressionAttributeNames contains invalid value: The expression attribute name must not be empty; key: ${key}`,
      );
    }
    names.set(key, name);
    bytes += Buffer.byteLength(name);
  }
  limitBytes('ExpressionAttributeNames', bytes);
  return names;
}

function readValues(sent: unknown): ReadonlyMap<string, AttributeValue> {
  const values = new Map<string, AttributeValue>();
  let bytes = 0;
  for (const [key, value] of entriesOf('ExpressionAttributeValues', sent, ':')) {
    values.set(key, readValueOf(key, value));
    bytes += valueBytes(values.get(key) ?? {});
  }
  limitBytes('ExpressionAttributeValues', bytes);
  return values;
}

function readValueOf(key: string, sent: unknown): AttributeValue {
  try {
    return readValue(sent);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.type.endsWith('SerializationException')) throw error;
    throw validationError(
      `ExpressionAttributeValues contains invalid value: ${error.message} for key ${key}`,
    );
  }
}

function entriesOf(parameter: string, sent: unknown, prefix: '#' | ':'): [string, unknown][] {
  if (sent === undefined || sent === null) return [];
  const entries = Object.entries(sent);
  if (entries.length === 0) throw validationError(`${parameter} must not be empty`);
  for (const [key] of entries) {
    if (key.startsWith(prefix) && /^.[A-Za-z0-9_]+$/.test(key)) continue;
    throw validationError(`${parameter} contains invalid key: Syntax error; key: "${key}"`);
  }
  return entries;
}

function limitBytes(parameter: string, bytes: number): void {
  if (bytes <= LIMITS.placeholderBytesMax) return;
  throw validationError(`${parameter} exceeds max size`);
}
