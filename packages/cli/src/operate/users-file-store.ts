import { parseUsers, type UserEntry } from '@apus/identity';
import { readIfThere, replaceFile } from '../replace-file.ts';
import { OperateError } from './operator.ts';
import type { ListedUser, UserStore } from './user-store.ts';

/**
 * The users file of a node. It is read with the node's own code, so no command leaves a file that the node would
 * refuse.
 */
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
    const text = this.#explained(() => readIfThere(this.#path));
    if (text === undefined) throw new OperateError(`There is no file ${this.#path}.`);
    for (const { password: _, ...user } of this.#read(text)) yield user;
  }

  /** If `change` returns undefined there is nothing to do: the file stays unchanged, and the result is false. */
  #change(change: (users: readonly UserEntry[]) => readonly UserEntry[] | undefined): boolean {
    return this.#explained(() => {
      const before = readIfThere(this.#path);
      if (change(this.#read(before)) === undefined) return false;
      let isChanged = true;
      replaceFile(this.#path, (now) => {
        const users = change(this.#read(now));
        isChanged = users !== undefined;
        return users === undefined ? (now ?? '') : this.#written(users);
      });
      return isChanged;
    });
  }

  #written(users: readonly UserEntry[]): string {
    const text = `${JSON.stringify({ users }, undefined, 2)}\n`;
    parseUsers(text, this.#path);
    return text;
  }

  /** Reads the file unchanged: fields that this command does not know stay. */
  #read(text: string | undefined): readonly UserEntry[] {
    if (text === undefined) return [];
    parseUsers(text, this.#path);
    return (JSON.parse(text) as { users: UserEntry[] }).users;
  }

  #explained<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw new OperateError((error as Error).message, { cause: error });
    }
  }
}
