import {
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';
import { reasonOf } from '@apus/broker';
import { ConfigurationError } from '../configuration-error.ts';

/** A key that verifies signatures. */
export interface VerificationKey {
  /** Undefined: the key is tried for tokens with any `kid`. */
  readonly kid: string | undefined;
  /** Algorithms that the kind of key allows: a public key is never taken for a secret (RFC 8725, section 3.1) [SEC-TOKEN-1]. */
  readonly algorithms: readonly string[];
  readonly key: KeyObject;
}

/** The least bytes of a secret for each algorithm: those of its hash (RFC 7518, section 3.2). */
const SECRET_BYTES_MIN = { HS256: 32, HS384: 48, HS512: 64 } as const;

export const SECRET_ALGORITHMS: readonly string[] = Object.keys(SECRET_BYTES_MIN);

const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const;
const PSS_ALGORITHMS = ['PS256', 'PS384', 'PS512'] as const;
const CURVE_ALGORITHMS: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};
/** RFC 9864 calls EdDSA over this curve Ed25519. */
const ED25519_ALGORITHMS = ['EdDSA', 'Ed25519'] as const;

export const PUBLIC_KEY_ALGORITHMS: readonly string[] = [
  ...RSA_ALGORITHMS,
  ...Object.values(CURVE_ALGORITHMS),
  ...ED25519_ALGORITHMS,
];

/** The least bits of an RSA key (RFC 7518, section 3.3). */
const RSA_BITS_MIN = 2_048;

/** @throws {ConfigurationError} that never contains the secret */
export function secretKey(secret: Uint8Array, kid?: string): VerificationKey {
  const least = SECRET_BYTES_MIN.HS256;
  if (secret.length < least) {
    throw new ConfigurationError(
      `A secret has ${secret.length} bytes; HS256 needs at least ${least}: \`openssl rand -base64 48\` makes one.`,
    );
  }
  if (Buffer.from(secret).includes('-----BEGIN')) {
    throw new ConfigurationError(
      'A secret is a key in PEM: a public key belongs under "keys", and as a secret anybody could sign with it.',
    );
  }
  const algorithms = Object.entries(SECRET_BYTES_MIN)
    .filter(([, bytes]) => secret.length >= bytes)
    .map(([name]) => name);
  return { kid, algorithms, key: createSecretKey(secret) };
}

/** A public key in PEM (SPKI, PKCS#1 or a certificate). @throws {ConfigurationError} */
export function pemKey(pem: string, kid?: string, algorithm?: string): VerificationKey {
  if (pem.includes('PRIVATE KEY')) {
    throw new ConfigurationError('A private key was given: the broker needs the public one alone.');
  }
  return publicKey(() => readPem(pem), kid, algorithm);
}

/** A public key as a JSON Web Key (RFC 7517). @throws {ConfigurationError} */
export function jwkKey(jwk: Readonly<Record<string, unknown>>): VerificationKey {
  if (jwk.d !== undefined) {
    throw new ConfigurationError('A private key was given: the broker needs the public one alone.');
  }
  if (jwk.kty === 'oct') {
    throw new ConfigurationError('A key of the kind "oct" is a secret: it belongs under "secrets".');
  }
  const { kid, alg } = jwk;
  return publicKey(
    () => createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }),
    typeof kid === 'string' ? kid : undefined,
    typeof alg === 'string' ? alg : undefined,
  );
}

function readPem(pem: string): KeyObject {
  return pem.includes('BEGIN CERTIFICATE') ? new X509Certificate(pem).publicKey : createPublicKey(pem);
}

function publicKey(read: () => KeyObject, kid: string | undefined, algorithm: string | undefined) {
  let key: KeyObject;
  try {
    key = read();
  } catch (error) {
    const reason = reasonOf(error);
    throw new ConfigurationError(`A key cannot be read: it is neither a JSON Web Key nor PEM (${reason}).`, {
      cause: error,
    });
  }
  const possible = algorithmsOf(key);
  const algorithms = possible.filter((each) => algorithm === undefined || each === algorithm);
  if (algorithms.length > 0) return { kid, algorithms, key };
  throw new ConfigurationError(
    algorithm === undefined
      ? `A key of the kind ${key.asymmetricKeyType} is not supported, or too short: RSA has ${RSA_BITS_MIN} bits or more.`
      : `A key is for ${algorithm}, and its kind allows ${possible.join(', ') || 'no algorithm that is supported'}.`,
  );
}

function algorithmsOf({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): readonly string[] {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails;
  if (asymmetricKeyType === 'rsa') return modulusLength < RSA_BITS_MIN ? [] : RSA_ALGORITHMS;
  if (asymmetricKeyType === 'rsa-pss') return modulusLength < RSA_BITS_MIN ? [] : PSS_ALGORITHMS;
  if (asymmetricKeyType === 'ed25519') return ED25519_ALGORITHMS;
  const algorithm = asymmetricKeyType === 'ec' ? CURVE_ALGORITHMS[namedCurve] : undefined;
  return algorithm === undefined ? [] : [algorithm];
}
