import type { Awaitable, Identity, Refusal, Rule } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import type { Answer, ChainAuthenticator, Shown } from './answer.ts';
import type { StoredUsers } from './stored-users.ts';
import type { UsersAuthenticator } from './users-authenticator.ts';
import type { UserLookup } from './users-file.ts';

export interface UsersMemberOptions {
  readonly source: string;
  readonly users: UserLookup;
  readonly authenticator: UsersAuthenticator;
  /**
   * No later authenticator handles names and passwords. An unknown name then takes as long as a wrong password, so that
   * the time of an answer does not tell which users exist.
   */
  readonly isLast: boolean;
  /** Users that have to be read one by one. Their rules become part of the identity: no other process has them. */
  readonly stored?: StoredUsers | undefined;
}

const NO_PASSWORD = { notMine: 'no user name and password were shown' };
const AWAY: Refusal = {
  refused: ReasonCode.ServerUnavailable,
  reason: 'The users cannot be read now; try again.',
};
const NO_USER = { notMine: 'there is no such user' };

/** Users and their passwords, as a member of the chain. */
export class UsersMember implements ChainAuthenticator {
  readonly source: string;
  readonly #options: UsersMemberOptions;

  constructor(options: UsersMemberOptions) {
    this.source = options.source;
    this.#options = options;
  }

  authenticate(shown: Shown): Awaitable<Answer> {
    const { stored } = this.#options;
    if (stored === undefined || shown.username === undefined) return this.#answer(shown);
    return stored.load(shown.username).then(
      () => this.#answer(shown),
      () => AWAY,
    );
  }

  #answer({ clientId = '', username, password, address }: Shown): Awaitable<Answer> {
    const { users, authenticator, isLast } = this.#options;
    if (username === undefined || password === undefined) return NO_PASSWORD;
    if (!isLast && users.get(username) === undefined) return NO_USER;
    const answer = authenticator.authenticate({ clientId, username, password, peer: { address } });
    return answer instanceof Promise ? answer.then((each) => this.#named(each)) : this.#named(answer);
  }

  rulesOf({ name }: Identity): readonly Rule[] | undefined {
    return this.#options.users.get(name)?.rules;
  }

  #named(answer: Identity | Refusal): Answer {
    if ('refused' in answer) return answer;
    const rules = this.#options.stored?.get(answer.name)?.rules;
    return { ...answer, source: this.source, ...(rules !== undefined && { rules }) };
  }
}
