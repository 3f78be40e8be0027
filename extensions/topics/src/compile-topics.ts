import type { Ajv } from 'ajv';
import equalModule from 'ajv/dist/runtime/equal.js';
import lengthModule from 'ajv/dist/runtime/ucs2length.js';
import standaloneModule from 'ajv/dist/standalone/index.js';
import { compilerWithText, linearRegExp } from './compile-schema.ts';
import type { TopicDescription } from './topics.ts';

/** The module that the compiled text requires for RE2: a file beside it. */
export const RE2_FILE = 're2js.cjs';

/** Compiled checks, for a process that has no compiler and must not make code from text. */
export interface CompiledTopics {
  /** A CommonJS module whose value is a list of `CheckedTopic`. */
  readonly text: string;
  /** The module requires `RE2_FILE`, because a schema has a `pattern`. */
  readonly hasPatterns: boolean;
}

const standaloneCode =
  defaultOf<(ajv: Ajv, names: Readonly<Record<string, string>>) => string>(standaloneModule);

/** Functions that Ajv's text requires. Each of them uses only its arguments, so its source text is complete. */
const RUNTIME: ReadonlyMap<string, string> = new Map([
  ['require("ajv/dist/runtime/equal").default', textOf(equalModule)],
  ['require("ajv/dist/runtime/ucs2length").default', textOf(lengthModule)],
]);

const LINEAR = `const { RE2JS } = require('./${RE2_FILE}');
function ${linearRegExp.code}(pattern) {
  const expression = RE2JS.compile(pattern);
  return { test: (text) => expression.matcher(text).find() };
}
`;

/**
 * Compiles the schemas of the topics that are checked.
 *
 * @throws {Error} with a sentence if a schema is invalid
 */
export function compileTopics(topics: readonly TopicDescription[]): CompiledTopics {
  const parts = topics.filter(({ checkPayload }) => checkPayload).map(partOf);
  const list = `module.exports = [\n${parts.join(',\n')}\n];\n`;
  const hasPatterns = list.includes(linearRegExp.code);
  return { text: `'use strict';\n${hasPatterns ? LINEAR : ''}${list}`, hasPatterns };
}

/** Each schema gets its own scope, since Ajv uses the same names for the parts of each. */
function partOf(description: TopicDescription): string {
  const { topicFilter, tenants } = description;
  const { ajv, key } = compilerWithText(description);
  let text = standaloneCode(ajv, { isValid: key });
  for (const [required, source] of RUNTIME) text = text.replaceAll(required, () => `(${source})`);
  if (text.includes('require('))
    throw new Error(`${description.topic}: its schema needs more than is there.`);
  const names = JSON.stringify({ topicFilter, tenants });
  return `{ ...${names}, ...((exports) => {\n${text}\nreturn exports;\n})({}) }`;
}

function textOf(module: object): string {
  return String(defaultOf(module));
}

/** Depending on the loader, a CommonJS module is its default export or has one. */
function defaultOf<T>(module: object): T {
  return (typeof module === 'function' ? module : (module as { readonly default: unknown }).default) as T;
}
