import { compile } from 'json-p3';
import { decodeValue } from '../decode/decode.ts';
import { type Predicate, QUERIED_CHARACTERS_MAX } from './message-filter.ts';

/** Comparisons and logic mark a JSONPath query that is an expression and not a path. */
const EXPRESSION = /==|!=|<=|>=|<|>|&&|\|\||^!/;

/** `$.a.b` finds what has such a member; `$.a > 5 && $.b == "x"` compares, with the payload as `$`. */
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

/** In a filter of JSONPath the value that is looked at is `@`. Quoted text stays as it is. */
function withoutRoot(expression: string): string {
  return expression.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$/g, (part) =>
    part === '$' ? '@' : part,
  );
}
