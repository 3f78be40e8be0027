import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Authenticator, Clock, Credentials, Identity, Refusal } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { addressGroup } from './address-group.ts';
import { FairQueue } from './fair-queue.ts';
import { GuessLimiter } from './guess-limiter.ts';
import { hashOfNothing, isPassword, type PasswordHash } from './password-hash.ts';
import { USER_NAME_LENGTH_MAX, type User, type UserLookup } from './users-file.ts';

const NO_CREDENTIALS: Refusal = {
  refused: ReasonCode.NotAuthorized,
  reason: 'This broker asks for a user name and a password',
};
const WRONG: Refusal = {
  refused: ReasonCode.BadUserNameOrPassword,
  reason: 'The user name or the password is wrong',
};
const BUSY: Refusal = {
  refused: ReasonCode.ServerBusy,
  reason: 'Too many passwords wait to be checked; try again later',
};

/**
 * scrypt runs on the thread pool, which has four threads and which the disk shares. Two leave the disk two; on a
 * machine with one or two cores a second one would take the event loop's. [SEC-GUESS-4]
 */
const HASHES_AT_A_TIME = availableParallelism() > 2 ? 2 : 1;

/** 50 s of work, five times as long as a client waits for CONNACK. */
const WAITING_MAX = 1_000;

/** Longer ones count as wrong: waiting names and passwords are kept in memory, and MQTT allows 64 KB for each. */
export const PASSWORD_BYTES_MAX = 1_024;

export interface UsersAuthenticatorOptions {
  readonly users: UserLookup;
  /** The tenant of every user. */
  readonly tenant: string;
  readonly clock: Clock;
  /**
   * Shared if several authenticators follow each other.
   * @default a new one
   */
  readonly limiter?: GuessLimiter;
  /** For tests. @default scrypt on the thread pool */
  readonly isPassword?: typeof isPassword;
}

/** Checks user name and password against the users of a file. */
export class UsersAuthenticator implements Authenticator {
  readonly #users: UserLookup;
  readonly #tenant: string;
  readonly #limiter: GuessLimiter;
  readonly #isPassword: typeof isPassword;
  readonly #queue = new FairQueue({ atATime: HASHES_AT_A_TIME, waitingMax: WAITING_MAX });
  /**
   * Passwords that were right, under a key that lives as long as this process: when many clients return at once,
   * each costs microseconds and not the 50 ms of scrypt. A changed password has another hash, and is not known.
   */
  readonly #known = new WeakMap<PasswordHash, Buffer>();
  readonly #key = randomBytes(32);
  /** For users that do not exist, so that the time of an answer does not tell which users do. */
  readonly #absentUserHash = hashOfNothing();

  constructor(options: UsersAuthenticatorOptions) {
    this.#users = options.users;
    this.#tenant = options.tenant;
    this.#limiter = options.limiter ?? new GuessLimiter(options.clock);
    this.#isPassword = options.isPassword ?? isPassword;
  }

  authenticate({ username, password, peer }: Credentials): Identity | Refusal | Promise<Identity | Refusal> {
    if (username === undefined || password === undefined) return NO_CREDENTIALS;
    const guess = { username, password, address: peer.address };
    return this.#answerAtOnce(guess) ?? this.#check(guess);
  }

  /**
   * Answers that need no hash. The limiter comes first: a right password that was answered at once would tell an
   * attacker.
   */
  #answerAtOnce({ username, password, address }: Guess): Identity | Refusal | undefined {
    const refusal = this.#limiter.refusal(username, address);
    if (refusal !== undefined) return refusal;
    if (password.length > PASSWORD_BYTES_MAX || username.length > USER_NAME_LENGTH_MAX)
      return this.#wrong(username, address);
    const user = this.#users.get(username);
    return user !== undefined && this.#isKnown(user, password) ? this.#right(user, address) : undefined;
  }

  async #check(guess: Guess): Promise<Identity | Refusal> {
    const lanes = [`name ${guess.username}`, `address ${addressGroup(guess.address)}`];
    // Tries before it in the queue may have decided: the backlog of an attacker is not hashed.
    const task = async () => this.#answerAtOnce(guess) ?? (await this.#hash(guess));
    return (await this.#queue.run(lanes, task)) ?? BUSY;
  }

  async #hash({ username, password, address }: Guess): Promise<Identity | Refusal> {
    const hash = this.#users.get(username)?.password ?? this.#absentUserHash;
    const isRight = await this.#isPassword(password, hash);
    // The users file may have been read again meanwhile.
    const user = this.#users.get(username);
    if (!isRight || user === undefined || user.password !== hash) return this.#wrong(username, address);
    this.#known.set(hash, this.#digest(password));
    return this.#right(user, address);
  }

  #wrong(username: string, address: string): Refusal {
    this.#limiter.wrong(username, address);
    return WRONG;
  }

  /**
   * The identity has no rules: `UsersAuthorizer` looks them up, so that a file that is read again takes effect at once.
   */
  #right({ name, clientIds, quotas }: User, address: string): Identity {
    this.#limiter.right(name, address);
    return {
      tenant: this.#tenant,
      name,
      ...(clientIds !== undefined && { clientIds }),
      ...(quotas !== undefined && { quotas }),
    };
  }

  #isKnown(user: User, password: Uint8Array): boolean {
    const known = this.#known.get(user.password);
    return known !== undefined && timingSafeEqual(known, this.#digest(password));
  }

  #digest(password: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(password).digest();
  }
}

interface Guess {
  readonly username: string;
  readonly password: Uint8Array;
  readonly address: string;
}
