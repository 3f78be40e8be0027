import type { UserEntry } from '@apus/identity';

/** A user in a list: without the hash of the password. */
export type ListedUser = Omit<UserEntry, 'password'>;

/** The place of a broker's users: the file of a node, or the table of a deployment. */
export interface UserStore {
  /** False if a user has this name. */
  add(user: UserEntry): Promise<boolean>;
  /** Replaces the hash of a user. False if there is no such user. */
  setPassword(name: string, password: string): Promise<boolean>;
  /** False if there is no such user. */
  remove(name: string): Promise<boolean>;
  list(): AsyncIterable<ListedUser>;
  /** A sentence that says whether connected clients are disconnected, and when the change takes effect. */
  readonly effect: string;
}
