import type { Clock } from '@apus/broker';
import { ConfigurationError } from '../configuration-error.ts';
import { Refreshed } from '../refreshed.ts';
import { RefreshedKeys } from './key-ring.ts';
import { SECRET_ALGORITHMS, secretKey, type VerificationKey } from './verification-key.ts';

/** A secret that tokens are signed with. */
export interface SigningSecret {
  /** Undefined if the text is a single secret. */
  readonly kid: string | undefined;
  readonly secret: string;
}

/** Secrets at a time: the one that signs, and those that have signed tokens still in use. */
export const SECRETS_MAX = 10;

/** Characters of a `kid`: each token has it in its header. */
const KID_LENGTH_MAX = 64;

const EXAMPLE = '[{"kid": "2", "secret": "…"}, {"kid": "1", "secret": "…"}]';

/**
 * Reads a text that holds one secret, or a list of them of which the first signs:
 *
 *     [{"kid": "2", "secret": "…"}, {"kid": "1", "secret": "…"}]
 *
 * @throws {ConfigurationError} that never contains a secret
 */
export function parseSigningSecrets(text: string): readonly SigningSecret[] {
  const trimmed = text.trim();
  if (!trimmed.startsWith('[')) return [{ kid: undefined, secret: trimmed }];
  const list = parseList(trimmed);
  if (list.length === 0 || list.length > SECRETS_MAX) {
    throw new ConfigurationError(`A list of secrets has 1 to ${SECRETS_MAX} of them, as ${EXAMPLE}.`);
  }
  const secrets = list.map(readSecret);
  if (new Set(secrets.map(({ kid }) => kid)).size < secrets.length) {
    throw new ConfigurationError('Two secrets of a list have the same "kid".');
  }
  return secrets;
}

/** @throws {ConfigurationError} when one is too short */
export function secretKeys(secrets: readonly SigningSecret[]): readonly VerificationKey[] {
  return secrets.map(({ kid, secret }) => secretKey(Buffer.from(secret), kid));
}

function parseList(text: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) return parsed;
  } catch {
    // The message of JSON.parse quotes the text, which may contain a secret.
  }
  throw new ConfigurationError(`A secret that begins with "[" has to be a list as ${EXAMPLE}.`);
}

function readSecret(entry: unknown, index: number): SigningSecret {
  const { kid, secret } = (entry ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof kid !== 'string' || kid === '' || kid.length > KID_LENGTH_MAX) {
    throw new ConfigurationError(
      `Secret ${index} of the list needs a "kid" of up to ${KID_LENGTH_MAX} characters.`,
    );
  }
  if (typeof secret !== 'string')
    throw new ConfigurationError(`Secret ${index} of the list has no "secret".`);
  return { kid, secret };
}

/** A secret that was removed from the list is refused after this time [SEC-TOKEN-7]. */
const FRESH_MS = 5 * 60_000;

/** While the store of secrets is unavailable clients can still connect for this time. */
const STALE_MS = 24 * 3_600_000;

/** A secret that was added is accepted after this time. */
const AGAIN_MS = 10_000;

export interface SecretSource {
  /** The name of the store, for errors; never the secret. */
  readonly what: string;
  readonly read: () => Promise<string>;
  readonly clock: Clock;
  readonly failed?: ((error: Error) => void) | undefined;
}

/**
 * Secrets that are kept elsewhere. Their rotation needs no restart: an unknown `kid` makes the process read them again.
 */
export function storedSecrets({ what, read, clock, failed }: SecretSource): RefreshedKeys {
  const source = new Refreshed({
    what,
    read: async () => secretKeys(parseSigningSecrets(await read())),
    clock,
    failed,
    freshMs: FRESH_MS,
    staleMs: STALE_MS,
    againMs: AGAIN_MS,
  });
  return new RefreshedKeys(source, SECRET_ALGORITHMS);
}
