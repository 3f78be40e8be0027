import { RulesAuthorizer } from '@apus/broker';
import type { UserLookup } from '@apus/identity';

/**
 * Allows users what the users file says. A user is looked up by name each time, so that a changed file counts at once.
 * An identity with rules of its own keeps to them.
 */
export class UsersAuthorizer extends RulesAuthorizer {
  constructor(users: UserLookup) {
    super(({ name, rules }) => rules ?? users.get(name)?.rules);
  }
}
