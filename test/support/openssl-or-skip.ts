import { programOrSkip } from './program.ts';
import { needs, type Skip } from './skips.ts';

/** Options of `describe` and `it` for tests with certificates, which OpenSSL makes. In CI a missing OpenSSL is a failure. */
export function needsOpenssl(): Skip {
  const wanted = { programs: ['openssl'], args: ['version'], status: 0, reason: 'needs OpenSSL' };
  return needs('openssl', programOrSkip(wanted));
}
