import { isObject } from '../lambda/proxy-result.ts';
import type { RouteOptions } from '../options.ts';

const PREFIX = '$request.body.';

/** The route of a message: JSON may select an existing one, everything else goes to `$default`. */
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

/** A MOCK integration answers by templates, which the emulator does not have: a route with one is one-way. */
export function checkRoutes(routes: Readonly<Record<string, RouteOptions>>): void {
  for (const [routeKey, { mock = false, routeResponse }] of Object.entries(routes)) {
    if (mock && routeResponse)
      throw new Error(`routes: expected "${routeKey}" without a route response, as its integration is MOCK`);
    if (mock && routeKey.startsWith('$'))
      throw new Error(`routes: expected a function for "${routeKey}", got MOCK`);
  }
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
