import type { Awaitable } from '../flow.ts';
import type { LinkState } from '../link.ts';
import type { ConnectionId } from '../session.ts';

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
   * on its way. Returns what stood there, to one caller only. Of a connection that has moved it returns to each caller
   * that it is closed, and where it has moved.
   */
  end(connectionId: ConnectionId): Awaitable<LinkState | undefined>;

  /**
   * Ends a connection since its session goes on over another: from now on the tombstone names that one. Returns the
   * state that stood there, also when it is called again; undefined, and nothing changed, when the connection has ended
   * or has moved to a third one.
   */
  move(from: ConnectionId, to: ConnectionId): Awaitable<LinkState | undefined>;

  /**
   * Saves the state of the connection that a session moves to, unless a call before this one has done it. False, and
   * nothing stored, when that connection has ended.
   */
  adopt(connectionId: ConnectionId, state: LinkState): Awaitable<boolean>;
}
