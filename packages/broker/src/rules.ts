import { covers } from '@apus/mqtt';
import type { Identity } from './ports/index.ts';

/** Topic filters that an identity may use; `%u` stands for its name and `%c` for its client identifier. */
export interface Rules {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** Whether one of the filters covers what was asked for, a topic name or a filter. */
export function isCovered(
  patterns: readonly string[],
  identity: Identity,
  clientId: string,
  requested: string,
): boolean {
  return patterns.some((pattern) => {
    const allowed = fillIn(pattern, identity.name, clientId);
    return allowed !== undefined && covers(allowed, requested);
  });
}

/** Undefined when a name would widen the filter: a client that calls itself `+` gets no more than its own topics. */
function fillIn(pattern: string, userName: string, clientId: string): string | undefined {
  if (!pattern.includes('%')) return pattern;
  const isUnsafe =
    (pattern.includes('%u') && !isOneLevel(userName)) || (pattern.includes('%c') && !isOneLevel(clientId));
  if (isUnsafe) return undefined;
  // In one pass: a user name that contains `%c` is taken as it is.
  return pattern.replaceAll(/%[uc]/g, (placeholder) => (placeholder === '%u' ? userName : clientId));
}

function isOneLevel(name: string): boolean {
  return name !== '' && !/[+#/]/.test(name);
}
