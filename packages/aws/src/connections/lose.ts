import type { Broker, ConnectionId, LinkState, LinkStore, Loss } from '@apus/broker';
import type { FailedPost, GatheredPosts, Redirection } from '../posts/gathered-posts.ts';
import type { Poster } from '../posts/poster.ts';
import { GatewayLink } from './gateway-link.ts';

/** The parts that end a connection. */
export interface Ends {
  readonly poster: Poster;
  readonly links: LinkStore;
}

/** How many times a session may move while one event is handled. */
const HOPS_MAX = 4;

/**
 * Ends a connection whose post has failed. If its session has moved to another connection, the missing packets are
 * posted there; if it is unknown whether they arrived, that connection is closed as well. If the client may resume its
 * session, the packets are kept for it.
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

/** Whether the client may come back to a session that keeps nothing for it, and has not done so. */
export function mayResume(state: LinkState | undefined): boolean {
  return movedTo(state) === undefined && isToldOfGaps(state);
}

/** Whether the client is told of missing messages when it resumes a session that keeps nothing. */
export function isToldOfGaps(state: LinkState | undefined): boolean {
  const before = state?.phase === 'closed' ? state.before : state;
  if (before?.phase !== 'connected') return false;
  const { resumeSeconds = 0, session } = before.connection;
  return resumeSeconds > 0 && session.attachment?.keepsNothing === true;
}

/** The packets that no queue holds: a queue sends its own messages again. */
function keepableOf({ missing = [] }: FailedPost): Uint8Array[] {
  return missing.flatMap((frame) => frame.unkept.map(({ bytes }) => bytes));
}

export function redirectionOf(state: LinkState | undefined): Redirection | undefined {
  if (state?.phase !== 'closed' || state.movedTo === undefined) return undefined;
  return { to: state.movedTo, unkeptAlone: state.isResumed === true };
}

/** The connection on which the session of a closed connection goes on. */
export function movedTo(state: LinkState | undefined): ConnectionId | undefined {
  return state?.phase === 'closed' ? state.movedTo : undefined;
}

/** Ends a connection, and those that its session has moved to meanwhile. Returns all their ids. */
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
 * Closes the connection: it is sent nothing more, and frames of its client have no effect. Returns its state if the
 * broker has to be told of the loss.
 */
export async function close(
  { poster, links }: Ends,
  { connectionId, outcome, isLoss }: FailedPost,
): Promise<LinkState | undefined> {
  if (outcome !== 'gone') {
    // QoS 0 is dropped. Other messages must not be missing: the client has to come back, and is sent them again.
    if (!isLoss) return undefined;
    await poster.delete(connectionId);
  }
  const state = await links.end(connectionId);
  // It is not documented whether an open connection can answer 410. If it is open, the client notices the close, and
  // would otherwise hear nothing until its next packet.
  if (outcome === 'gone' && state?.phase === 'connected') await poster.delete(connectionId);
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

/** The connection is over: writes the tombstone first, then tells the broker. Returns the state of the connection. */
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
