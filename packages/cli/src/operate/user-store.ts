import type { UserEntry } from '@apus/identity';

/** A user as it is listed: without the hash of the password. */
export type ListedUser = Omit<UserEntry, 'password'>;

/** Where the users of a broker are kept: the file of a node, or the table of a deployment. */
export interface UserStore {
  /** False when there is one of that name. */
  add(user: UserEntry): Promise<boolean>;
  /** Gives a user another hash. False when there is none of that name. */
  setPassword(name: string, password: string): Promise<boolean>;
  /** False when there is none of that name. */
  remove(name: string): Promise<boolean>;
  list(): AsyncIterable<ListedUser>;
  /** A sentence: whether connected clients end, and when the change counts. */
  readonly effect: string;
}
