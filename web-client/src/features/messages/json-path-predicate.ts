import { compile } from 'json-p3';
import { decodeValue } from '../decode/decode.ts';
import { type Predicate, QUERIED_CHARACTERS_MAX } from './message-filter.ts';

/** Comparisons and logic distinguish an expression from a path in a JSONPath query. */
const EXPRESSION = /==|!=|<=|>=|<|>|&&|\|\||^!/;

/** `$.a.b` finds payloads with this member; `$.a > 5 && $.b == "x"` compares, with the payload as `$`. */
export function jsonPathPredicate(query: string): Predicate {
  const isExpression = EXPRESSION.test(query) && !query.includes('?');
  const path = compile(isExpression ? `$[?${withoutRoot(query)}]` : query);
  return (message) => {
    const value = decodeValue(message.payload, QUERIED_CHARACTERS_MAX, message.topic);
    if (value === undefined) return false;
    const root = isExpression ? [value] : value;
    return !path.query(root as Parameters<typeof path.query>[0]).empty();
  };
}

/** In a filter of JSONPath the present value is `@`. Quoted text is not changed. */
function withoutRoot(expression: string): string {
  return expression.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$/g, (part) =>
    part === '$' ? '@' : part,
  );
}
