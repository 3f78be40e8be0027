import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Log } from '@apus/broker';
import { changeUsersFile, type UsersChange, usersInFile } from './change-users-file.ts';
import { readUsersFile, type User, type UserEntry, type UserLookup, type Users } from './users-file.ts';

/**
 * How late a change is noticed. Watching by events would miss changes on network file systems and in mounted volumes.
 */
const LOOK_MS = 2_000;

/** A clock that calls back, such as the node's `Scheduler`. */
export interface Scheduler extends Clock {
  /** Calls back once after at least `delayMs`. The returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

export interface WatchOptions {
  readonly scheduler: Scheduler;
  readonly log: Log;
  /**
   * Called when the file was read again, with the names of users that were added or removed, or whose password or rules
   * have changed.
   */
  readonly onChange: (names: readonly string[]) => void;
}

/**
 * The users of a file that is read again when it changes. A file that cannot be read, or is wrong, is logged once, and
 * the former users stay. A user whose password did not change keeps the same `password` object, so that a remembered
 * check stays valid for it, and for no other. [SEC-GUESS-6]
 */
export class WatchedUsersFile implements UserLookup {
  readonly #path: string;
  #users: Users;
  /** The state of the file that was read last, or failed to be. */
  #seen = '';
  #watch: WatchOptions | undefined;
  #cancel: () => void = () => {};

  /** @throws {ConfigurationError} with the error in the file, and its place */
  constructor(path: string) {
    this.#path = path;
    this.#users = readUsersFile(path);
  }

  get(name: string): User | undefined {
    return this.#users.get(name);
  }

  /** All users with their fields, as the file has them now. */
  entries(): readonly UserEntry[] {
    return usersInFile(this.#path) ?? [];
  }

  /**
   * Changes the file; the change is in force when this resolves. False: there was nothing to change.
   *
   * @throws {ConfigurationError} if the file would be wrong
   */
  async change(change: UsersChange): Promise<boolean> {
    if (!changeUsersFile(this.#path, change)) return false;
    await this.look();
    return true;
  }

  /** Looks for changes from now on, until `stop`. */
  watch(options: WatchOptions): void {
    this.stop();
    this.#watch = options;
    this.#lookLater(options);
  }

  stop(): void {
    this.#cancel();
    this.#watch = undefined;
  }

  /** Looks for a change now. Does nothing if the file is not watched. */
  async look(): Promise<void> {
    const watch = this.#watch;
    if (watch === undefined) return;
    const state = await stateOf(this.#path);
    if (this.#watch !== watch || state === this.#seen) return;
    // Taken before the file is read: if it changes meanwhile, its state differs, and it is read again.
    this.#seen = state;
    this.#read(watch);
  }

  #lookLater(options: WatchOptions): void {
    this.#cancel = options.scheduler.after(LOOK_MS, () => {
      this.#lookLater(options);
      void this.look();
    });
  }

  #read({ log, onChange }: WatchOptions): void {
    let read: Users;
    try {
      read = readUsersFile(this.#path);
    } catch (error) {
      log.error('users-file-not-read', { error: `${(error as Error).message} The former users stay.` });
      return;
    }
    const before = this.#users;
    const after = withKeptPasswords(read, before);
    const names = changedNames(before, after);
    if (names.length === 0) return;
    this.#users = after;
    onChange(names);
  }
}

/** Differs if the file has been written or replaced. */
async function stateOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

function withKeptPasswords(read: Users, before: Users): Users {
  const users = new Map<string, User>();
  for (const [name, user] of read) {
    const old = before.get(name)?.password;
    users.set(name, isDeepStrictEqual(old, user.password) && old ? { ...user, password: old } : user);
  }
  return users;
}

function changedNames(before: Users, after: Users): string[] {
  const names = [...before.keys()].filter((name) => !after.has(name));
  for (const [name, user] of after) if (!isDeepStrictEqual(before.get(name), user)) names.push(name);
  return names;
}
