import { changeUsersFile, type UserEntry, usersInFile } from '@apus/identity';
import { OperateError } from './operate-error.ts';
import type { ListedUser, UserStore } from './user-store.ts';

/** The users file of a node. */
export class UsersFileStore implements UserStore {
  readonly effect =
    'A node that is running reads the file within two seconds; sessions of users who are gone end.';
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async add(user: UserEntry): Promise<boolean> {
    return this.#change((users) =>
      users.some(({ name }) => name === user.name) ? undefined : [...users, user],
    );
  }

  async setPassword(name: string, password: string): Promise<boolean> {
    return this.#change((users) =>
      users.some((each) => each.name === name)
        ? users.map((each) => (each.name === name ? { ...each, password } : each))
        : undefined,
    );
  }

  async remove(name: string): Promise<boolean> {
    return this.#change((users) => {
      const others = users.filter((each) => each.name !== name);
      return others.length < users.length ? others : undefined;
    });
  }

  async *list(): AsyncGenerator<ListedUser> {
    const users = explained(() => usersInFile(this.#path));
    if (users === undefined) throw new OperateError(`There is no file ${this.#path}.`);
    for (const { password: _, ...user } of users) yield user;
  }

  /** If `change` returns undefined there is nothing to do: the file stays unchanged, and the result is false. */
  #change(change: (users: readonly UserEntry[]) => readonly UserEntry[] | undefined): boolean {
    return explained(() => changeUsersFile(this.#path, change));
  }
}

function explained<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new OperateError((error as Error).message, { cause: error });
  }
}
