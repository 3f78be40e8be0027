import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Authenticator, Credentials, Identity, Refusal } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { TENANT } from './anonymous.ts';
import { hashPassword, isPassword, type PasswordHash, parsePasswordHash } from './password-hash.ts';
import type { User, Users } from './users-file.ts';

const NO_CREDENTIALS: Refusal = {
  refused: ReasonCode.NotAuthorized,
  reason: 'This broker asks for a user name and a password',
};
const WRONG: Refusal = {
  refused: ReasonCode.BadUserNameOrPassword,
  reason: 'The user name or the password is wrong',
};

/** Checks user name and password against the users of a file. */
export class UsersAuthenticator implements Authenticator {
  readonly #users: Users;
  /**
   * Passwords that were right, under a key that lives as long as this process: when many clients return at once,
   * each costs microseconds and not the 50 ms of scrypt.
   */
  readonly #known = new Map<User, Buffer>();
  readonly #key = randomBytes(32);
  /** Stands in for users that do not exist, so that the time of an answer does not tell who does. */
  readonly #nobody: Promise<PasswordHash | undefined>;

  constructor(users: Users) {
    this.#users = users;
    this.#nobody = hashPassword(randomBytes(16)).then(parsePasswordHash);
  }

  authenticate({ username, password }: Credentials): Identity | Refusal | Promise<Identity | Refusal> {
    if (username === undefined || password === undefined) return NO_CREDENTIALS;
    const user = this.#users.get(username);
    if (user !== undefined && this.#isKnown(user, password)) return identityOf(user);
    return this.#check(user, password);
  }

  async #check(user: User | undefined, password: Uint8Array): Promise<Identity | Refusal> {
    const hash = user?.password ?? (await this.#nobody);
    const isRight = hash !== undefined && (await isPassword(password, hash));
    if (user === undefined || !isRight) return WRONG;
    this.#known.set(user, this.#digest(password));
    return identityOf(user);
  }

  #isKnown(user: User, password: Uint8Array): boolean {
    const known = this.#known.get(user);
    return known !== undefined && timingSafeEqual(known, this.#digest(password));
  }

  #digest(password: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(password).digest();
  }
}

function identityOf({ name }: User): Identity {
  return { tenant: TENANT, name };
}
