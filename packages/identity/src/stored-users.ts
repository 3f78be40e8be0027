import { ConfigurationError } from './configuration-error.ts';
import { parseUsers, USER_NAME_LENGTH_MAX, type User, type UserLookup } from './users-file.ts';

/** Reads a user's entry, the JSON of a users file; undefined if there is no such user. */
export type ReadUser = (tenant: string, name: string) => Promise<string | undefined>;

/** Remembered users: a password that was verified for one costs no scrypt again; some 2 KB each. */
const REMEMBERED_MAX = 1_000;

/**
 * Users of a remote store, read one by one. `load` reads one for each login. A user that has not changed stays the same
 * object, for which a verified password is remembered.
 */
export class StoredUsers implements UserLookup {
  readonly #tenant: string;
  readonly #read: ReadUser;
  /** Oldest first. */
  readonly #users = new Map<string, { readonly json: string; readonly user: User }>();

  constructor(tenant: string, read: ReadUser) {
    this.#tenant = tenant;
    this.#read = read;
  }

  /** The entry as it was last read. */
  get(name: string): User | undefined {
    return this.#users.get(name)?.user;
  }

  /** Rejects if it cannot be read. */
  async load(name: string): Promise<void> {
    if (name === '' || name.length > USER_NAME_LENGTH_MAX) return;
    const json = await this.#read(this.#tenant, name);
    const known = this.#users.get(name);
    this.#users.delete(name);
    if (json === undefined) return;
    this.#users.set(name, known?.json === json ? known : { json, user: userOf(json, name) });
    for (const [oldest] of this.#users) {
      if (this.#users.size <= REMEMBERED_MAX) break;
      this.#users.delete(oldest);
    }
  }
}

function userOf(json: string, name: string): User {
  const where = `the user ${JSON.stringify(name)}`;
  const user = parseUsers(`{"users": [${json}]}`, where).get(name);
  if (user === undefined) throw new ConfigurationError(`${where} has another name in it.`);
  return user;
}
