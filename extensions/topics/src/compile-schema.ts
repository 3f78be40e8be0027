import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { RE2JS } from 're2js';
import type { TopicDescription } from './topics.ts';

/** Inherited members do not count, and `format` is only a description. */
const OPTIONS: Options = { strict: false, validateFormats: false, ownProperties: true };

/** Names the schema of a topic in a compiler. */
const KEY = 'payload';

/** Regular expressions of a compiled schema run in RE2 and not in JavaScript's engine. */
interface LinearRegExp {
  (pattern: string, flags: string): { test(text: string): boolean };
  /** The name of that engine in compiled text. */
  readonly code: string;
}

export const linearRegExp: LinearRegExp = Object.assign(
  (pattern: string) => {
    const expression = RE2JS.compile(pattern);
    return { test: (text: string) => expression.matcher(text).find() };
  },
  { code: 'linearRegExp' },
);

/** @throws {Error} with a sentence if the schema is invalid */
export function compileSchema(description: TopicDescription): ValidateFunction {
  return compiledBy(compilerOf(false), description);
}

/**
 * The same in a compiler that keeps the text.
 *
 * @throws {Error} with a sentence if the schema is invalid
 */
export function compilerWithText(description: TopicDescription): { readonly ajv: Ajv; readonly key: string } {
  const ajv = compilerOf(true);
  compiledBy(ajv, description);
  return { ajv, key: KEY };
}

function compilerOf(source: boolean): Ajv {
  return new Ajv({ ...OPTIONS, code: { regExp: linearRegExp, source } });
}

function compiledBy(ajv: Ajv, { topic, payload }: TopicDescription): ValidateFunction {
  try {
    ajv.addSchema(payload ?? {}, KEY);
    const isValid = ajv.getSchema(KEY);
    if (isValid === undefined) throw new Error('it cannot be compiled');
    return isValid;
  } catch (error) {
    throw new Error(`${topic}: payload: ${(error as Error).message}.`, { cause: error });
  }
}
