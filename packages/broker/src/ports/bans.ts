import type { Ban, BanName } from '../bans.ts';
import type { Awaitable } from '../flow.ts';
import type { SessionRef } from '../session.ts';
import type { Identity } from './authentication.ts';

/** The clients that the operator has banned, and the tokens that it has revoked. Answers from memory, at once. */
export interface Bans {
  /** The ban that keeps this client out now. Asked at CONNECT and for each packet. `host`: see `Peer.host`. */
  banOn(identity: Identity, clientId: string, host: string | undefined): Ban | undefined;

  /** The ban of this address, for a door that is asked before its client has said a name. */
  banOnHost(host: string | undefined): Ban | undefined;

  /** A name by which the list knows a connection when only its session is at hand: kept as `Attachment.holder`. */
  holderOf(identity: Identity, host: string | undefined): string | undefined;

  /**
   * Whether nothing is delivered to the connection that a session had when it was read. Undefined where no delivery has
   * to be looked at: no client is banned, or a ban ends connections at once.
   */
  readonly keepsOut?: ((session: SessionRef) => boolean) | undefined;
}

/** Keeps bans over a restart. */
export interface BanStore {
  all(): Iterable<Ban>;
  /** In the place of one with the same name. It is kept when this is answered. False when the list is full. */
  put(ban: Ban): Awaitable<boolean>;
  remove(ban: BanName): Awaitable<void>;
}
