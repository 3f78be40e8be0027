import { isObject } from '../lambda/proxy-result.ts';

const PREFIX = '$request.body.';

/** The route of a message: JSON may select one of those that exist, all else goes to `$default`. */
export function selectRoute(
  body: string,
  expression: string,
  routes: Readonly<Record<string, unknown>>,
): string {
  const selected = evaluate(body, expression);
  // `$connect` and `$disconnect` are no routes for messages, even if a message names them.
  const exists = selected !== undefined && !selected.startsWith('$') && Object.hasOwn(routes, selected);
  return exists ? selected : '$default';
}

export function checkExpression(expression: string): void {
  if (expression.startsWith(PREFIX) && expression.length > PREFIX.length) return;
  throw new Error(`routeSelectionExpression: expected "${PREFIX}name", got "${expression}"`);
}

function evaluate(body: string, expression: string): string | undefined {
  let value = parseJson(body);
  for (const name of expression.slice(PREFIX.length).split('.')) {
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return typeof value === 'string' ? value : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
