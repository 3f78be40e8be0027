import { isObject } from '@apus/emulator/service';
import { missingParameter, serializationError } from './errors.ts';

/** Members of a request, as JSON brought them. */
export type Input = Readonly<Record<string, unknown>>;

export function parseInput(body: string): Input {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw serializationError('The body is not JSON.');
  }
  if (!isObject(value)) throw serializationError('The body should be a JSON object.');
  return value;
}

export function text(input: Input, name: string): string | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw serializationError(`${name} should be text.`);
  return value;
}

export function requiredText(input: Input, name: string): string {
  const value = text(input, name);
  if (value === undefined) throw missingParameter(name);
  return value;
}

export function integer(input: Input, name: string): number | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (!Number.isInteger(value)) throw serializationError(`${name} should be a whole number.`);
  return Number(value);
}

export function texts(input: Input, name: string): string[] {
  const value = input[name];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw serializationError(`${name} should be a list of texts.`);
  }
  return value;
}

export function objects(input: Input, name: string): Input[] {
  const value = input[name];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every(isObject)) {
    throw serializationError(`${name} should be a list of objects.`);
  }
  return value;
}

export function objectMap(input: Input, name: string): Readonly<Record<string, Input>> {
  const value = input[name];
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw serializationError(`${name} should be an object.`);
  const entries = Object.entries(value).map(([key, member]): [string, Input] => {
    if (!isObject(member)) throw serializationError(`${name}.${key} should be an object.`);
    return [key, member];
  });
  return Object.fromEntries(entries);
}
