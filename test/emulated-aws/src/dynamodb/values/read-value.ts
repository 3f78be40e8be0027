import { invalidValue, serializationError, validationError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import {
  type AttributeValue,
  type Item,
  isTypeName,
  newItem,
  type SetTypeName,
  type TypeName,
} from './attribute-value.ts';
import { canonicalNumber } from './numbers.ts';

/** Names and values of an item, or of a key, as a caller sent them. Throws what DynamoDB would answer. */
export function readItem(sent: unknown, level = 0): Item {
  const item = newItem();
  for (const [name, value] of Object.entries(record(sent))) item[name] = readValue(value, level);
  return item;
}

export function readValue(sent: unknown, level = 0): AttributeValue {
  const types = Object.entries(record(sent)).filter(([, value]) => value !== undefined && value !== null);
  const [first] = types;
  if (first === undefined || !types.some(([name]) => isTypeName(name))) {
    throw validationError(
      'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
    );
  }
  if (types.length > 1) {
    throw validationError(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    );
  }
  const [name, value] = first;
  return readTyped(name as TypeName, value, level);
}

function readTyped(type: TypeName, value: unknown, level: number): AttributeValue {
  switch (type) {
    case 'S':
      return { S: text(value) };
    case 'N':
      return { N: canonicalNumber(text(value)) };
    case 'B':
      return { B: base64(value) };
    case 'BOOL':
      return { BOOL: boolean(value) };
    case 'NULL':
      if (boolean(value)) return { NULL: true };
      throw invalidValue('Null attribute value types must have the value of true');
    case 'L':
      return { L: array(value).map((element) => readValue(element, deeper(level))) };
    case 'M':
      return { M: readItem(value, deeper(level)) };
    default:
      return { [type]: readSet(type, array(value)) };
  }
}

/** The level of the values in a list or a map at this level. */
function deeper(level: number): number {
  if (level < LIMITS.nestingLevelsMax) return level + 1;
  throw validationError('Nesting Levels have exceeded supported limits');
}

function readSet(type: SetTypeName, sent: readonly unknown[]): readonly string[] {
  if (sent.length === 0) {
    throw invalidValue(
      type === 'BS'
        ? 'Binary sets should not be empty'
        : `An ${type === 'SS' ? 'string' : 'number'} set  may not be empty`,
    );
  }
  const members = sent.map(READ_MEMBER[type]);
  if (new Set(members).size === members.length) return members;
  if (type === 'NS') throw validationError('Input collection contains duplicates');
  const suffix = type === 'BS' ? 'of type BS contains duplicates.' : ' contains duplicates.';
  throw invalidValue(`Input collection [${sent.join(', ')}]${suffix}`);
}

const READ_MEMBER: Readonly<Record<SetTypeName, (member: unknown) => string>> = {
  SS: (member) => notEmpty(text(member), 'An string set may not have a empty string as a member'),
  NS: (member) => canonicalNumber(text(member)),
  BS: (member) => notEmpty(base64(member), 'Binary sets may not contain empty values'),
};

function notEmpty(member: string, otherwise: string): string {
  if (member === '') throw invalidValue(otherwise);
  return member;
}

function record(sent: unknown): object {
  if (typeof sent === 'object' && sent !== null && !Array.isArray(sent)) return sent;
  throw serializationError('Unexpected value type in payload');
}

function array(sent: unknown): readonly unknown[] {
  if (Array.isArray(sent)) return sent;
  throw serializationError('Unexpected field type');
}

function text(sent: unknown): string {
  if (typeof sent === 'string') return sent;
  throw serializationError(`${String(sent).toUpperCase()} cannot be converted to String`);
}

function boolean(sent: unknown): boolean {
  if (typeof sent === 'boolean') return sent;
  throw serializationError(`${String(sent).toUpperCase()} cannot be converted to Boolean`);
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function base64(sent: unknown): string {
  if (typeof sent === 'string' && BASE64.test(sent)) return sent;
  throw serializationError('only base-64-encoded strings are convertible to bytes');
}
