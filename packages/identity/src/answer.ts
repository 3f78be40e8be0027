import type { Awaitable, Identity, Refusal, Rule } from '@apus/broker';

/** The credentials of a client: a token in the handshake, or a user name and a password in CONNECT. */
export interface Shown {
  /** From the handshake, or from AUTH. */
  readonly token?: string | undefined;
  /** Absent in the handshake. */
  readonly clientId?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: Uint8Array | undefined;
  /** Address of the client, perhaps with its port. */
  readonly address: string;
}

/** The credential is of a kind that another authenticator may know, and why: the next one is asked. */
export interface NotMine {
  readonly notMine: string;
}

/** An identity, a refusal that ends the chain, or "ask the next one". A reason never contains the credential. */
export type Answer = Identity | Refusal | NotMine;

/** One member of the chain. When a source that it has to ask is unavailable, it answers 0x88 and does not throw. */
export interface ChainAuthenticator {
  /** Stands in `Identity.source`. */
  readonly source: string;
  /** It is asked too about a client that has shown neither a token nor a password. @default false */
  readonly isAskedAlways?: boolean;
  authenticate(shown: Shown): Awaitable<Answer>;
  /** Rules of an identity of its own that brings none: those that are kept elsewhere, and may change there. */
  rulesOf?(identity: Identity): readonly Rule[] | undefined;
  /** Reads its remote sources, to find out whether they can be read. @throws {SourceUnavailable} */
  probe?(): Promise<void>;
}
