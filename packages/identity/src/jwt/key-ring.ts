import type { Awaitable } from '@apus/broker';
import type { Refreshed } from '../refreshed.ts';
import type { VerificationKey } from './verification-key.ts';

/** The keys of one issuer. */
export interface KeyRing {
  /** Algorithms that its keys may have: a token with another one goes to the next authenticator. */
  readonly algorithms: readonly string[];
  /** @throws {SourceUnavailable} */
  keys(): Awaitable<readonly VerificationKey[]>;
  /** Reads the source again. False: it has no newer keys. */
  again(): Awaitable<boolean>;
}

/** Keys in the configuration. */
export class FixedKeys implements KeyRing {
  readonly algorithms: readonly string[];
  readonly #keys: readonly VerificationKey[];

  constructor(keys: readonly VerificationKey[]) {
    this.#keys = keys;
    this.algorithms = [...new Set(keys.flatMap((each) => each.algorithms))];
  }

  keys(): readonly VerificationKey[] {
    return this.#keys;
  }

  again(): boolean {
    return false;
  }
}

/** Keys that are kept elsewhere, and change there. */
export class RefreshedKeys implements KeyRing {
  readonly algorithms: readonly string[];
  readonly #source: Refreshed<readonly VerificationKey[]>;

  constructor(source: Refreshed<readonly VerificationKey[]>, algorithms: readonly string[]) {
    this.#source = source;
    this.algorithms = algorithms;
  }

  keys(): Promise<readonly VerificationKey[]> {
    return this.#source.current();
  }

  again(): Promise<boolean> {
    return this.#source.again();
  }
}

/** Keys without a `kid` that are tried for one token; each costs a signature check. */
const TRIED_MAX = 10;

/** The keys that may have signed a token: the one that it names, or else those without a name. */
export function candidatesOf(
  keys: readonly VerificationKey[],
  { alg, kid }: { readonly alg: string; readonly kid: string | undefined },
): readonly VerificationKey[] {
  const possible = keys.filter((each) => each.algorithms.includes(alg));
  const named = possible.filter((each) => each.kid !== undefined && each.kid === kid);
  if (named.length > 0) return named.slice(0, TRIED_MAX);
  return possible.filter((each) => kid === undefined || each.kid === undefined).slice(0, TRIED_MAX);
}
