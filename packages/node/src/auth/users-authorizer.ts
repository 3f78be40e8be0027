import { RulesAuthorizer } from '@apus/broker';
import type { UserLookup } from '@apus/identity';

/**
 * Lets users do what the users file says. A user is looked up by name each time, so that a file which is read anew
 * counts at once; an identity that brings rules of its own keeps to them.
 */
export class UsersAuthorizer extends RulesAuthorizer {
  constructor(users: UserLookup) {
    super(({ name, rules }) => rules ?? users.get(name)?.rules);
  }
}
