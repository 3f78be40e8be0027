import type { Broker, ConnectionId, LinkState, LinkStore, Loss } from '@apus/broker';
import type { FailedPost, GatheredPosts } from '../posts/gathered-posts.ts';
import type { Poster } from '../posts/poster.ts';
import { GatewayLink } from './gateway-link.ts';

/** Where a connection is ended. */
export interface Ends {
  readonly poster: Poster;
  readonly links: LinkStore;
}

/** Connections that a session moves through while one event is handled. */
const HOPS_MAX = 4;

/**
 * Ends a connection whose post has failed. Where its session has moved to another connection, the missing
 * packets are posted there; if it is unknown whether they arrived, that connection ends as well. Where the client may
 * resume its session, they are kept for it.
 */
export async function endFailed(
  by: Ends & { readonly broker: Broker; readonly posts: GatheredPosts },
  failure: FailedPost,
): Promise<void> {
  let failed = failure;
  for (let hops = 0; hops < HOPS_MAX; hops += 1) {
    let state = await close(by, failed);
    if (state?.phase === 'connected') await tellLost(by.broker, failed.connectionId, state, failed.outcome);
    if (failed.outcome === 'gone' && mayResume(state)) {
      state = await by.links.keep(failed.connectionId, keepableOf(failed));
      by.posts.goOn(failed.connectionId);
    }
    const next = redirectionOf(state);
    if (next === undefined) return;
    if (failed.outcome === 'gone') return by.posts.follow(failed, next);
    failed = { ...failed, connectionId: next.to };
  }
}

/** Its client may come back to a session that keeps nothing for it, and has not done so. */
export function mayResume(state: LinkState | undefined): boolean {
  return movedTo(state) === undefined && isToldOfGaps(state);
}

/** A client that may resume a session which keeps nothing is told when messages may be missing. */
export function isToldOfGaps(state: LinkState | undefined): boolean {
  const before = state?.phase === 'closed' ? state.before : state;
  if (before?.phase !== 'connected') return false;
  const { resumeSeconds = 0, session } = before.connection;
  return resumeSeconds > 0 && session.attachment?.keepsNothing === true;
}

/** The packets that the session's queue does not hold: the queue sends its own messages anew. */
function keepableOf({ missing = [] }: FailedPost): Uint8Array[] {
  return missing.flatMap((frame) => frame.unkept.map(({ bytes }) => bytes));
}

/** Where posts to a connection that is gone go on to. */
export interface Redirection {
  readonly to: ConnectionId;
  /** The session has gone on there after a loss: its queue sends its messages anew, so only others are posted. */
  readonly unkeptAlone: boolean;
}

export function redirectionOf(state: LinkState | undefined): Redirection | undefined {
  if (state?.phase !== 'closed' || state.movedTo === undefined) return undefined;
  return { to: state.movedTo, unkeptAlone: state.isResumed === true };
}

/** The connection on which the session of one that is closed goes on. */
export function movedTo(state: LinkState | undefined): ConnectionId | undefined {
  return state?.phase === 'closed' ? state.movedTo : undefined;
}

/** Ends a connection, and those that its session has moved to meanwhile. Returns the ids of all of them. */
export async function endAll(links: LinkStore, connectionId: ConnectionId): Promise<readonly ConnectionId[]> {
  const ended = [connectionId];
  let to = movedTo(await links.end(connectionId));
  for (let hops = 0; to !== undefined && hops < HOPS_MAX; hops += 1) {
    ended.push(to);
    to = movedTo(await links.end(to));
  }
  return ended;
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
  const state = await links.end(connectionId);
  // Whether a connection that is there can answer 410 is not documented. Its client has missed something: let it notice.
  if (outcome === 'gone' && mayResume(state) && state?.phase === 'connected')
    await poster.delete(connectionId);
  return state;
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

/** The connection is over: writes a tombstone first, and then tells the broker. Returns the state that it had. */
export async function loseConnection(
  { broker, links }: { readonly broker: Broker; readonly links: LinkStore },
  connectionId: ConnectionId,
  why: string,
  loss: Loss = {},
): Promise<LinkState | undefined> {
  const state = await links.end(connectionId);
  if (state !== undefined) await tellLost(broker, connectionId, state, why, loss);
  return state;
}
