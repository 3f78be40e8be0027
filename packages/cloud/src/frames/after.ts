import type { ConnectionId, LinkState, Loss } from '@apus/broker';
import { GatewayLink } from '../connections/gateway-link.ts';
import type { Environment } from '../environment.ts';
import type { FailedPost } from '../posts/postbag.ts';

/** Rounds of posts that one event may cause: a will of a lost connection can find another lost connection. */
const ROUNDS_MAX = 4;

/**
 * Sends what was gathered, jobs and posts, and turns connections that are gone or do not read into lost ones. Only
 * then is anything marked as done. Rejects when a job may not be in its queue.
 */
export async function flush(environment: Environment): Promise<void> {
  const hasAllLeft = await send(environment);
  for (const each of environment.doneAfterFlush) {
    if (hasAllLeft) await each.settleAll();
    else each.drop();
  }
}

/**
 * Sends what was gathered for this connection, and with it everything else, before the event has been handled: what
 * comes next joins its queue. A connection that did not get it is ended first, as its acknowledgements would draw what
 * is newer; in a worker the carrier does that. What other failures cause is dealt with at the end, in the turn of
 * `flush`.
 */
export async function sendAhead(environment: Environment, connectionId: ConnectionId): Promise<void> {
  const { fanOut, postbag } = environment;
  if (postbag.holds(connectionId)) {
    await fanOut?.flush();
    await postbag.flushAhead(connectionId);
  }
  // It may have failed when it was posted along with what another connection was sent.
  const failure = postbag.failureOf(connectionId);
  if (failure?.isLoss === true) await settle(environment, failure);
}

/**
 * Ends a connection of which nobody knows what it was sent, at once: until it is over its acknowledgements draw what is
 * newer, and whoever handles this event may die before its end.
 */
export async function endNow(environment: Environment, connectionId: ConnectionId): Promise<void> {
  await settle(environment, environment.postbag.fail(connectionId));
}

async function send(environment: Environment): Promise<boolean> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await environment.fanOut?.flush();
    const failed = await environment.postbag.flush();
    if (failed.length === 0) return true;
    for (const failure of failed) await settle(environment, failure);
  }
  environment.log.warn('lost-connections-left', { rounds: ROUNDS_MAX });
  return false;
}

/** The event has failed: nothing that it began counts as done, and what is not in a queue yet is not promised. */
export function forsake(environment: Environment): void {
  environment.fanOut?.drop();
  for (const each of environment.doneAfterFlush) each.drop();
}

/** Failures that have been settled, or are about to be. */
const settled = new WeakMap<FailedPost, Promise<void>>();

/** What a post that failed means for its connection: once, whichever of the calls that meet the failure is first. */
export function settle(environment: Environment, failure: FailedPost): Promise<void> {
  const known = settled.get(failure);
  if (known !== undefined) return known;
  const settling = settleNow(environment, failure);
  settled.set(failure, settling);
  return settling;
}

async function settleNow(environment: Environment, failure: FailedPost): Promise<void> {
  const { connectionId, outcome } = failure;
  const state = await close(environment, failure);
  if (state !== undefined) await tellLost(environment, connectionId, state, outcome);
}

/**
 * Nothing reaches the connection any more, and what its client has sent is without effect. Its state, where somebody has
 * to be told that it is lost.
 */
export async function close(
  { poster, links }: Environment,
  { connectionId, outcome, isLoss }: FailedPost,
): Promise<LinkState | undefined> {
  if (outcome !== 'gone') {
    // QoS 0 is dropped. Anything else would be missing in the middle: the client returns and is sent it again.
    if (!isLoss) return undefined;
    await poster.delete(connectionId);
  }
  return await links.end(connectionId);
}

/** What MQTT says of a lost connection. */
export async function tellLost(
  { broker }: Environment,
  connectionId: ConnectionId,
  state: LinkState,
  why: string,
  loss: Loss = {},
): Promise<void> {
  await broker.lost(new GatewayLink(connectionId, { address: 'unknown' }, state), why, loss);
}

/** The connection is over, whoever noticed: a tombstone first, then what MQTT says of a lost connection. */
export async function loseConnection(
  environment: Environment,
  connectionId: ConnectionId,
  why: string,
  loss: Loss = {},
): Promise<void> {
  const state = await environment.links.end(connectionId);
  if (state !== undefined) await tellLost(environment, connectionId, state, why, loss);
}
