import type { Authorizer, Identity } from '@apus/broker';
import { covers } from './covers.ts';
import type { Users } from './users-file.ts';

/** Lets users publish and subscribe where the filters of the users file say. */
export class UsersAuthorizer implements Authorizer {
  readonly #users: Users;

  constructor(users: Users) {
    this.#users = users;
  }

  mayPublish(identity: Identity, clientId: string, topicName: string): boolean {
    const allowed = this.#users.get(identity.name)?.publish ?? [];
    return allowed.some((pattern) => isCovered(pattern, identity, clientId, topicName));
  }

  maySubscribe(identity: Identity, clientId: string, topicFilter: string): boolean {
    const allowed = this.#users.get(identity.name)?.subscribe ?? [];
    return allowed.some((pattern) => isCovered(pattern, identity, clientId, topicFilter));
  }
}

function isCovered(pattern: string, identity: Identity, clientId: string, requested: string): boolean {
  const allowed = fillIn(pattern, identity.name, clientId);
  return allowed !== undefined && covers(allowed, requested);
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
