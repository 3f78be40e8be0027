import type { Clock } from '@apus/broker';
import { type Fetch, fetchText } from '../fetch-text.ts';
import { Refreshed } from '../refreshed.ts';
import { RefreshedKeys } from './key-ring.ts';
import { jwkKey, PUBLIC_KEY_ALGORITHMS, type VerificationKey } from './verification-key.ts';

/** A key that its provider has withdrawn is refused after this time. */
const FRESH_MS = 10 * 60_000;

/** While a provider is unavailable its clients can still connect for this time. */
const STALE_MS = 24 * 3_600_000;

/** The least time between two requests for an unknown key. */
const AGAIN_MS = 30_000;

/** A gateway's handler has five seconds in all. */
const FETCH_TIMEOUT_MS = 3_000;

/** Bytes of a key set. Those of large providers have 2 to 20 KB. */
const KEY_SET_BYTES_MAX = 256 * 1024;

/** Keys that are kept of one set. */
const KEYS_MAX = 100;

export interface KeySetSource {
  readonly url: string;
  readonly clock: Clock;
  readonly fetch?: Fetch | undefined;
  /** Called for each failed fetch. */
  readonly failed?: ((error: Error) => void) | undefined;
}

/** The published keys of an identity provider (RFC 7517, section 5), fetched when they are first needed. */
export function remoteKeySet({ url, clock, fetch = globalThis.fetch, failed }: KeySetSource): RefreshedKeys {
  const limits = { timeoutMs: FETCH_TIMEOUT_MS, bytesMax: KEY_SET_BYTES_MAX };
  const source = new Refreshed({
    what: `The key set at ${url}`,
    read: async () => readKeySet(await fetchText(fetch, url, limits)),
    clock,
    failed,
    freshMs: FRESH_MS,
    staleMs: STALE_MS,
    againMs: AGAIN_MS,
  });
  return new RefreshedKeys(source, PUBLIC_KEY_ALGORITHMS);
}

/** The keys that can verify signatures; others are ignored, as the RFC says. */
export function readKeySet(text: string): readonly VerificationKey[] {
  const { keys } = JSON.parse(text) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('a key set has a list of "keys"');
  return keys.slice(0, KEYS_MAX).flatMap(usableKey);
}

function usableKey(jwk: unknown): VerificationKey[] {
  if (typeof jwk !== 'object' || jwk === null) return [];
  const { use } = jwk as Readonly<Record<string, unknown>>;
  if (use !== undefined && use !== 'sig') return [];
  try {
    return [jwkKey(jwk as Readonly<Record<string, unknown>>)];
  } catch {
    return [];
  }
}
