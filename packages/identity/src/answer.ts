import type { Awaitable, Identity, PeerCertificate, Refusal, Rule } from '@apus/broker';

/** The credentials of a client: a token in the handshake, or a user name and a password in CONNECT. */
export interface Shown {
  /** The token from the handshake or from AUTH. */
  readonly token?: string | undefined;
  /** Absent in the handshake. */
  readonly clientId?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: Uint8Array | undefined;
  readonly certificate?: PeerCertificate | undefined;
  /** Address of the client, perhaps with its port. */
  readonly address: string;
}

/**
 * Another authenticator may know this kind of credential: the chain asks the next one. `reason` says why this one does
 * not.
 */
export interface NotMine {
  readonly notMine: string;
  /** It could not be checked: it is not counted as a wrong one. @default false */
  readonly isUndecided?: boolean;
}

/** An identity, a refusal that ends the chain, or "ask the next one". A reason never contains the credential. */
export type Answer = Identity | Refusal | NotMine;

/** One member of the chain. If a source that it needs is unavailable, it answers 0x88 and does not throw. */
export interface ChainAuthenticator {
  /** The value of `Identity.source`. */
  readonly source: string;
  /**
   * Whether the chain also asks it about a client with neither a token nor a password.
   * @default false
   */
  readonly isAskedAlways?: boolean;
  authenticate(shown: Shown): Awaitable<Answer>;
  /** The rules of one of its identities that carries none: rules that are kept elsewhere, and may change there. */
  rulesOf?(identity: Identity): readonly Rule[] | undefined;
  /**
   * Reads its remote sources, to check that they can be read.
   * @throws {SourceUnavailable}
   */
  probe?(): Promise<void>;
}
