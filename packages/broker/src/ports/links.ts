import type { Awaitable } from '../flow.ts';
import type { LinkState } from '../link.ts';
import type { ConnectionId } from '../session.ts';

/**
 * Where each network connection stands, for a door whose next packet another process may handle. What is stored is
 * plain data; what is loaded is the caller's own.
 */
export interface LinkStore {
  /** What was saved last, read strongly; 'closed' after `end`; undefined for a connection that has sent nothing. */
  load(connectionId: ConnectionId): Awaitable<LinkState | undefined>;

  /** False, and nothing stored, when the connection has ended: whoever saves has to undo what it began. */
  save(connectionId: ConnectionId, state: LinkState): Awaitable<boolean>;

  /**
   * The connection is over, whether it ever was saved or not: a tombstone that stays as long as a late packet may be
   * on its way. Returns what stood there, to one caller only.
   */
  end(connectionId: ConnectionId): Awaitable<LinkState | undefined>;
}
