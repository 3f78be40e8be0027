import type { Awaitable } from '../model/flow.ts';
import type { LinkState } from '../model/link.ts';
import type { ConnectionId } from '../model/session.ts';

/** The packets that came for a client while it had no connection. */
export interface KeptPackets {
  readonly packets: readonly Uint8Array[];
  /** More packets came than the store keeps. */
  readonly hasMissed: boolean;
}

/**
 * The states of network connections, for a door where another process may handle the next packet. A stored state is
 * plain data; the caller owns the state that it loads.
 */
export interface LinkStore {
  /**
   * The state that was saved last, read strongly; in phase 'closed' after `end` or `move`; undefined if none was saved.
   */
  load(connectionId: ConnectionId): Awaitable<LinkState | undefined>;

  /** False when the connection has ended: nothing was saved, and the caller has to undo what it began. */
  save(connectionId: ConnectionId, state: LinkState): Awaitable<boolean>;

  /**
   * Ends the connection, saved or not, and leaves a tombstone for as long as a late packet may be on its way. The
   * first caller gets the state; each later one gets a closed state.
   */
  end(connectionId: ConnectionId): Awaitable<LinkState | undefined>;

  /**
   * Ends a connection whose session goes on over another one: the tombstone names that one. Returns the state, also to
   * a repeated call. Undefined, and nothing changed, when the connection has ended, or has moved to a third one.
   */
  move(from: ConnectionId, to: ConnectionId): Awaitable<LinkState | undefined>;

  /**
   * Keeps packets for a client that has lost this connection, until it resumes its session: at most `LOST_PACKETS_MAX`
   * and `LOST_BYTES_MAX`. Packets without room are noted as missed; a call without packets notes just that. Returns
   * the present state if nothing is kept, since the connection has not ended, or its session goes on over another one.
   */
  keep(connectionId: ConnectionId, packets: readonly Uint8Array[]): Awaitable<LinkState | undefined>;

  /**
   * The session of an ended connection goes on over another one: the tombstone names that one, and keeps no more
   * packets. Returns the kept packets, also to a repeated call. Undefined, and nothing changed, when the connection
   * has not ended, or its session goes on over a third one.
   */
  resume(from: ConnectionId, to: ConnectionId): Awaitable<KeptPackets | undefined>;

  /**
   * Saves the state of the connection that a session moves to, unless an earlier call has done so. False, and nothing
   * saved, when that connection has ended.
   */
  adopt(connectionId: ConnectionId, state: LinkState): Awaitable<boolean>;
}
