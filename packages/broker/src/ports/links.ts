import type { Awaitable } from '../flow.ts';
import type { LinkState } from '../link.ts';
import type { ConnectionId } from '../session.ts';

/**
 * Where each network connection stands, for a door whose next packet another process may handle. The stored state is
 * plain data; the caller owns the state that it loads.
 */
export interface LinkStore {
  /**
   * The state that was saved last, read strongly; 'closed' after `end`; undefined for a connection that has sent
   * nothing.
   */
  load(connectionId: ConnectionId): Awaitable<LinkState | undefined>;

  /** False, and nothing stored, when the connection has ended: the caller has to undo what it began. */
  save(connectionId: ConnectionId, state: LinkState): Awaitable<boolean>;

  /**
   * The connection is over, whether it ever was saved or not: a tombstone that stays as long as a late packet may be
   * on its way. Returns what stood there, to one caller only.
   */
  end(connectionId: ConnectionId): Awaitable<LinkState | undefined>;
}
