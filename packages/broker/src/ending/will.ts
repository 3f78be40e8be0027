import type { Will } from '@apus/mqtt';
import { isSameOwner } from '../connect/session-owner.ts';
import type { Context } from '../context.ts';
import { whenDelivered } from '../deliver/deliver.ts';
import { isRefused } from '../model/accept-outcome.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Identity } from '../model/identity.ts';
import type { MessageId } from '../model/message.ts';
import type { ConnectionId, SessionRef } from '../model/session.ts';
import { type SessionRecord, Unavailable } from '../ports/index.ts';
import { accept, createMessage } from '../publish/accept.ts';
import { lateRefusal } from '../publish/late-refusal.ts';
import { payloadViolation } from '../publish/payload.ts';
import { wasCutForAge } from './grace.ts';

/** How long to wait before the will is tried again, if the workers are too far behind, or the authorizer is busy. */
const BACKLOG_PAUSE_MS = 10_000;

/** How long a will above QoS 0 waits if its client has caused as many deliveries as it may. */
const LIMITED_PAUSE_MS = 60_000;

/**
 * Whether the will of the session that `identity` finds is published now. Only the owner of the session withdraws the
 * will by coming back.
 */
export function isWillOwedTo(
  context: Context,
  identity: Identity,
  previous: SessionRecord,
  present: boolean,
  nowMs: number,
): boolean {
  return !isSameOwner(previous.identity, identity) || isWillOwed(context, previous, present, nowMs);
}

/**
 * Whether the will that a returning client left behind is published [MQTT-3.1.2-8], or withdrawn, because the client
 * is back within the delay and its session goes on [MQTT-3.1.3-9]. A connection that the platform cut for its age was
 * not lost: a client that comes straight back withdraws its will.
 */
function isWillOwed(
  { options }: Context,
  { will, willDue, attachedAtMs }: SessionRecord,
  present: boolean,
  nowMs: number,
): boolean {
  if (willDue !== undefined) return willDue.atMs <= nowMs || !(present || willDue.isWithdrawnByReturn);
  // A take-over: the client may have come back before the end of its old connection was noticed.
  if (wasCutForAge(options, attachedAtMs, nowMs)) return false;
  return !present || willDelaySecondsOf(will) === 0;
}

/** Publishes the will of this ended connection, or sets a timer if that cannot be done yet. */
export function* publishWillOrRemind(
  context: Context,
  session: SessionRef,
  connectionId: ConnectionId,
  nowMs?: number,
): Flow<void> {
  const againAtMs = yield* publishWillOf(context, session, connectionId, nowMs);
  if (againAtMs === undefined) return;
  yield* waitFor(context.ports.timers.set({ kind: 'will', session, connectionId }, againAtMs));
}

/**
 * Publishes the will of this ended connection, unless that has been done. Returns when to try again: the will is not due
 * yet, or is refused for now.
 *
 * The will is begun, published and then done. If a process dies in between, the next caller publishes the same message
 * again.
 *
 *     timer                              timer again, or the sweep
 *     beginWill: message id m
 *     some recipients have m
 *     dies
 *                                        beginWill: m, a repeat: others get it, some get m again
 *                                        doneWill
 */
export function* publishWillOf(
  context: Context,
  session: SessionRef,
  connectionId: ConnectionId,
  nowMs = context.ports.clock.now(),
): Flow<number | undefined> {
  const { sessions, clock } = context.ports;
  const messageId = context.messageClock.next();
  const claim = yield* waitFor(sessions.beginWill(session, connectionId, messageId, nowMs));
  if (claim.state === 'none') return undefined;
  if (claim.state === 'not-due') return claim.dueAtMs;
  const { will, identity } = claim;
  const { tenant, clientId } = session;
  const names = { connectionId, tenant, clientId };
  const refusal = yield* refusalOf(context, session, identity, will);
  if (refusal === 'busy') return clock.now() + BACKLOG_PAUSE_MS;
  if (refusal !== undefined) {
    context.ports.log.warn('will-refused', { ...names, name: identity.name, topic: will.topic, ...refusal });
    yield* waitFor(sessions.doneWill(session, connectionId));
    return undefined;
  }
  const message = messageOf(context, session, will, claim.messageId);
  const options = { publisher: { identity, clientId }, isRepeat: claim.isRepeat, isWill: true };
  const outcome = yield* accept(context, session.tenant, message, options);
  if (outcome === 'backlog-full' || outcome === 'stream-contended') return clock.now() + BACKLOG_PAUSE_MS;
  if (outcome === 'deliveries-exceeded' && message.qos > 0) return clock.now() + LIMITED_PAUSE_MS;
  const { topic } = message;
  if (isRefused(outcome))
    context.ports.log.warn('will-refused', { ...names, name: identity.name, topic, reason: outcome });
  else context.ports.log.debug('will-published', { ...names, topic, isRepeat: claim.isRepeat });
  yield* whenDelivered(context, () => waitFor(sessions.doneWill(session, connectionId)));
  return undefined;
}

/** What the log says of a will that is not published. Rules, bans and schemas may have changed since CONNECT. */
function* refusalOf(
  context: Context,
  { tenant, clientId }: SessionRef,
  identity: Identity,
  will: Will,
): Flow<{ readonly reasonCode: number; readonly reason: string } | 'busy' | undefined> {
  try {
    const refusal =
      (yield* lateRefusal(context, { identity, clientId, asksRules: true }, will.topic, will)) ??
      payloadViolation(context, tenant, will);
    return refusal && { reasonCode: refusal.reasonCode, reason: refusal.reason };
  } catch (error) {
    if (error instanceof Unavailable) return 'busy';
    throw error;
  }
}

/** The Will Delay Interval, 0 where the will names none; undefined without a will. */
export function willDelaySecondsOf(will: Will | undefined): number | undefined {
  return will && (will.properties.willDelayInterval ?? 0);
}

function messageOf(context: Context, session: SessionRef, will: Will, id: MessageId) {
  const { topic, payload, qos, retain } = will;
  const { willDelayInterval: _, ...properties } = will.properties;
  const draft = { topic, payload, qos, retain, properties, publisherKey: session.key };
  return createMessage(context, draft, id);
}
