import type { Ban, BanName } from '../model/bans.ts';
import type { Awaitable } from '../model/flow.ts';
import type { Bannable, Identity } from '../model/identity.ts';
import type { SessionRef } from '../model/session.ts';

/** The clients that the operator has banned, and the tokens that it has revoked. Answers from memory, at once. */
export interface Bans {
  /** The ban that names this client now. Asked at CONNECT and for each packet. `host`: see `Peer.host`. */
  banOn(identity: Bannable, clientId: string, host: string | undefined): Ban | undefined;

  /** The ban of this address, for a door whose client has not named itself yet. */
  banOnHost(host: string | undefined): Ban | undefined;

  /** Identifies the client of a connection where only the session is at hand. Kept as `Attachment.holder`. */
  holderOf(identity: Identity, host: string | undefined): string | undefined;

  /**
   * Whether a ban names the client of this session, so that nothing is delivered to its connection. Undefined if
   * deliveries need no check: there are no bans, or a ban ends connections at once.
   */
  readonly keepsOut?: ((session: SessionRef) => boolean) | undefined;
}

/** Keeps bans over a restart. */
export interface BanStore {
  all(): Iterable<Ban>;
  /** Stores a ban in the place of one with the same name. Durable when answered. False when the list is full. */
  put(ban: Ban): Awaitable<boolean>;
  remove(ban: BanName): Awaitable<void>;
}
