import type { UserEntry } from '@apus/identity';
import type { StackOperator } from './stack-operator.ts';
import type { ListedUser, UserStore } from './user-store.ts';

/** The users of a deployment, which are in its table: changed through the operator's function, as bans are. */
export class UsersTableStore implements UserStore {
  readonly effect = 'It counts from the next CONNECT on; sessions of a user who is gone have been ended.';
  readonly #operator: StackOperator;

  constructor(operator: StackOperator) {
    this.#operator = operator;
  }

  async add(user: UserEntry): Promise<boolean> {
    return (await this.#operator.invoke<{ added: boolean }>({ action: 'add-user', user })).added;
  }

  async setPassword(name: string, password: string): Promise<boolean> {
    const request = { action: 'set-password', name, password };
    return (await this.#operator.invoke<{ changed: boolean }>(request)).changed;
  }

  async remove(name: string): Promise<boolean> {
    return (await this.#operator.invoke<{ removed: boolean }>({ action: 'remove-user', name })).removed;
  }

  async *list(): AsyncGenerator<ListedUser> {
    let after: string | undefined;
    do {
      const page: { users: readonly ListedUser[]; next?: string } = await this.#operator.invoke({
        action: 'users',
        after,
      });
      yield* page.users;
      after = page.next;
    } while (after !== undefined);
  }
}
