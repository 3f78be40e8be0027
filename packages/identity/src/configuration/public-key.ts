import { ConfigurationError } from '../configuration-error.ts';
import { jwkKey, pemKey, type VerificationKey } from '../jwt/verification-key.ts';
import { Fields } from './fields.ts';
import { within } from './within.ts';

/** A public key: a JSON Web Key, or `{"kid": "…", "pem": "…"}`. @throws {ConfigurationError} */
export function publicKeyIn(entry: unknown, where: string): VerificationKey {
  if (typeof entry !== 'object' || entry === null) {
    throw new ConfigurationError(`${where} has to be a JSON Web Key, or {"kid": "…", "pem": "…"}.`);
  }
  return within(where, () => ('pem' in entry ? readPemKey(entry, where) : jwkKey({ ...entry })));
}

function readPemKey(entry: object, where: string): VerificationKey {
  const fields = new Fields(entry, where, ['kid', 'pem', 'alg']);
  return pemKey(fields.requiredText('pem', 'the public key'), fields.text('kid'), fields.text('alg'));
}
