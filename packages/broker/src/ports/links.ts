import type { Awaitable } from '../flow.ts';
import type { LinkState } from '../link.ts';
import type { ConnectionId } from '../session.ts';

/** The packets that have come for a client while it was away. */
export interface KeptPackets {
  readonly packets: readonly Uint8Array[];
  /** More came than is kept. */
  readonly hasMissed: boolean;
}

/**
 * Where each network connection stands, for a door whose next packet another process may handle. The stored state is
 * plain data; the caller owns the state that it loads.
 */
export interface LinkStore {
  /**
   * The state that was saved last, read strongly; 'closed' after `end` and `move`; undefined for a connection that has sent
   * nothing.
   */
  load(connectionId: ConnectionId): Awaitable<LinkState | undefined>;

  /** False, and nothing stored, when the connection has ended: the caller has to undo what it began. */
  save(connectionId: ConnectionId, state: LinkState): Awaitable<boolean>;

  /**
   * The connection is over, whether it ever was saved or not: a tombstone that stays as long as a late packet may be
   * on its way. Returns what stood there: the state of the connection to one caller only, to each later one that it is
   * closed.
   */
  end(connectionId: ConnectionId): Awaitable<LinkState | undefined>;

  /**
   * Ends a connection since its session goes on over another: from now on the tombstone names that one. Returns the
   * state that stood there, also when it is called again; undefined, and nothing changed, when the connection has ended
   * or has moved to a third one.
   */
  move(from: ConnectionId, to: ConnectionId): Awaitable<LinkState | undefined>;

  /**
   * Keeps packets of a client that has lost this connection until it resumes its session, at most `LOST_PACKETS_MAX` and
   * `LOST_BYTES_MAX`. Packets that find no room are noted as missed; a call without packets notes just that. Returns what
   * stands there where nothing is kept, as the connection has not ended, or its session goes on over another.
   */
  keep(connectionId: ConnectionId, packets: readonly Uint8Array[]): Awaitable<LinkState | undefined>;

  /**
   * The session of a connection that has ended goes on over another: from now on the tombstone names that one, and keeps
   * no packets. Returns those that it has kept, also when it is called again; undefined, and nothing changed, when the
   * connection has not ended, or its session has gone on over a third one.
   */
  resume(from: ConnectionId, to: ConnectionId): Awaitable<KeptPackets | undefined>;

  /**
   * Saves the state of the connection that a session moves to, unless a call before this one has done it. False, and
   * nothing stored, when that connection has ended.
   */
  adopt(connectionId: ConnectionId, state: LinkState): Awaitable<boolean>;
}
