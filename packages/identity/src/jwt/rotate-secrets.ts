import { createHash, randomBytes } from 'node:crypto';
import { parseSigningSecrets, type SigningSecret } from './signing-secrets.ts';

/** Bytes of a new secret. As text they are 64 characters. */
const SECRET_BYTES = 32;

/** Characters of a generated name of a secret. */
const KID_LENGTH = 8;

/** A rotated list of secrets. */
export interface Rotation {
  /** The list to store; its first secret signs. */
  readonly text: string;
  /** The `kid` of the secret that signs from now on. */
  readonly kid: string;
  /** The `kid` of the secret that has signed tokens in use; undefined: there is none. */
  readonly formerKid: string | undefined;
  /** The secrets whose tokens are refused from now on. */
  readonly droppedKids: readonly string[];
}

/**
 * The name of a secret that was given none. It is always the same, so a token that names it is still accepted when the
 * secret has become one of a list.
 */
export function kidOf({ kid, secret }: SigningSecret): string {
  return kid ?? createHash('sha256').update(`apus kid ${secret}`).digest('hex').slice(0, KID_LENGTH);
}

/**
 * Puts a new secret before the present one, which stays for the tokens that it has signed. Older ones are dropped
 * [SEC-TOKEN-8].
 *
 * @throws {ConfigurationError} if the text holds no secrets
 */
export function rotateSecrets(text: string, makeSecret: () => string = newSecret): Rotation {
  return keep([{ kid: undefined, secret: makeSecret() }, ...parseSigningSecrets(text)], 2);
}

/**
 * Drops all but the secret that signs.
 * @throws {ConfigurationError} if the text holds no secrets
 */
export function finishRotation(text: string): Rotation {
  return keep(parseSigningSecrets(text), 1);
}

function keep(secrets: readonly SigningSecret[], count: number): Rotation {
  const named = secrets.map((each) => ({ kid: kidOf(each), secret: each.secret }));
  const kept = named.slice(0, count);
  const [first, former] = kept;
  if (first === undefined) throw new Error('a list of secrets has at least one');
  return {
    text: JSON.stringify(kept),
    kid: first.kid,
    formerKid: former?.kid,
    droppedKids: named.slice(count).map(({ kid }) => kid),
  };
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('hex');
}
