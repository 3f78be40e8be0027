import { JSONPathEnvironment } from 'json-p3';
import { DEPTH_MAX } from '../decode/limits.ts';

/** A search that may take long: it runs in a worker. */
export interface SlowQuery {
  readonly kind: 'regex' | 'jsonpath';
  readonly query: string;
}

/** Whether something fits; undefined if the query failed at it. */
export type Found = boolean | undefined;

/** Comparisons and logic distinguish an expression from a path in a JSONPath query. */
const EXPRESSION = /==|!=|<=|>=|<|>|&&|\|\||^!/;

/** Without the limit, the library refuses values of more than 49 levels. The two are the root and its frame. */
const environment = new JSONPathEnvironment({ maxRecursionDepth: DEPTH_MAX + 3 });

/**
 * The matcher takes text for a regular expression, and a decoded value for a JSONPath.
 *
 * @throws Error that names the mistake in the query
 */
export function matcherOf({ kind, query }: SlowQuery): (item: unknown) => Found {
  const test = kind === 'regex' ? regexTest(query) : jsonPathTest(query);
  return (item) => {
    try {
      return item !== undefined && test(item);
    } catch {
      // A stack or an expression that is too large for the browser.
      return undefined;
    }
  };
}

function regexTest(query: string): (item: unknown) => boolean {
  const expression = new RegExp(query, 'u');
  return (text) => expression.test(String(text));
}

/** `$.a.b` finds payloads with this member; `$.a > 5 && $.b == "x"` compares, with the payload as `$`. */
function jsonPathTest(query: string): (item: unknown) => boolean {
  const isExpression = EXPRESSION.test(query) && !query.includes('?');
  const path = environment.compile(isExpression ? `$[?${withoutRoot(query)}]` : query);
  return (value) => {
    const root = isExpression ? [value] : value;
    return path.match(root as Parameters<typeof path.match>[0]) !== undefined;
  };
}

/** In a filter of JSONPath the present value is `@`. Quoted text is not changed. */
function withoutRoot(expression: string): string {
  return expression.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$/g, (part) =>
    part === '$' ? '@' : part,
  );
}
