import { type Authorizer, type Identity, isCovered } from '@apus/broker';
import type { Users } from './users-file.ts';

/** Lets users publish and subscribe where the filters of the users file say. */
export class UsersAuthorizer implements Authorizer {
  readonly #users: Users;

  constructor(users: Users) {
    this.#users = users;
  }

  mayPublish(identity: Identity, clientId: string, topicName: string): boolean {
    return isCovered(this.#users.get(identity.name)?.publish ?? [], identity, clientId, topicName);
  }

  maySubscribe(identity: Identity, clientId: string, topicFilter: string): boolean {
    return isCovered(this.#users.get(identity.name)?.subscribe ?? [], identity, clientId, topicFilter);
  }
}
