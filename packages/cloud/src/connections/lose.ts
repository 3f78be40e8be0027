import type { Broker, ConnectionId, LinkState, LinkStore, Loss } from '@apus/broker';
import type { FailedPost } from '../posts/gathered-posts.ts';
import type { Poster } from '../posts/poster.ts';
import { GatewayLink } from './gateway-link.ts';

/** Where a connection is ended. */
export interface Ends {
  readonly poster: Poster;
  readonly links: LinkStore;
}

/** Ends a connection whose post has failed. */
export async function endFailed(by: Ends & { readonly broker: Broker }, failure: FailedPost): Promise<void> {
  const state = await close(by, failure);
  if (state !== undefined) await tellLost(by.broker, failure.connectionId, state, failure.outcome);
}

/**
 * Closes the connection: nothing reaches it any more, and frames of its client have no effect. Returns its state when
 * the broker must be told that the connection is lost.
 */
export async function close(
  { poster, links }: Ends,
  { connectionId, outcome, isLoss }: FailedPost,
): Promise<LinkState | undefined> {
  if (outcome !== 'gone') {
    // QoS 0 is dropped. Anything else would be missing in the middle: the client returns and is sent it again.
    if (!isLoss) return undefined;
    await poster.delete(connectionId);
  }
  return await links.end(connectionId);
}

/** Tells the broker that a connection is lost. */
export async function tellLost(
  broker: Broker,
  connectionId: ConnectionId,
  state: LinkState,
  why: string,
  loss: Loss = {},
): Promise<void> {
  await broker.lost(new GatewayLink(connectionId, { address: 'unknown' }, state), why, loss);
}

/** The connection is over: writes a tombstone first, and then tells the broker. */
export async function loseConnection(
  { broker, links }: { readonly broker: Broker; readonly links: LinkStore },
  connectionId: ConnectionId,
  why: string,
  loss: Loss = {},
): Promise<void> {
  const state = await links.end(connectionId);
  if (state !== undefined) await tellLost(broker, connectionId, state, why, loss);
}
