import { tellConnected } from '../connect/client-events.ts';
import type { Context } from '../context.ts';
import { drain } from '../deliver/drain.ts';
import { tellDropped } from '../deliver/drops.ts';
import { departureOf } from '../ending/disconnect.ts';
import { endConnection } from '../ending/end-connection.ts';
import { graceOf } from '../ending/grace.ts';
import { isWillOwedTo, publishWillOrRemind } from '../ending/will.ts';
import { type Awaitable, type Flow, waitFor } from '../model/flow.ts';
import type { Connection, Link } from '../model/link.ts';
import type { ConnectionId, SessionRef } from '../model/session.ts';
import type { SessionRecord } from '../ports/index.ts';
import { moveSubscriptions } from './move.ts';

/** A connection that its client has lost. */
export interface LostConnection {
  readonly id: ConnectionId;
  readonly connection: Connection;
  /** Connections from which the session has moved there while the client did not know, in their order. */
  readonly earlier?: readonly ConnectionId[];
  /**
   * Called when the new connection has the session, and before it has the subscriptions: from then on posts for these
   * connections go to the new one, after its packets.
   */
  readonly goesOn: () => Awaitable<void>;
}

/**
 * A client that has lost its connection goes on with its session over `link`, without a CONNECT [SEC-MOVE-1]. The
 * broker sends the inflight and waiting messages, as after CONNACK. False when the session is over or has another
 * connection, or when its will has been published, since others believe that the client is gone.
 */
export function* resumeSession(
  context: Context,
  link: Link,
  lost: LostConnection,
  mayHaveOtherRules: boolean,
): Flow<boolean> {
  if (link.state.phase !== 'connected') return false;
  const { connection } = link.state;
  const record = yield* recordAfter(context, lost, connection.session);
  if (record === undefined) return false;
  const session = yield* attach(context, link, connection, lost, record);
  if (session === undefined) return false;
  const resumed = { ...connection, session, isResumed: true };
  link.state = { ...link.state, connection: resumed };
  yield* waitFor(lost.goesOn());
  const from = [...(lost.earlier ?? []), lost.id];
  yield* moveSubscriptions(context, session, connection.identity, from, mayHaveOtherRules);
  yield* tellConnected(context, link, resumed, false);
  yield* tellDropped(context, session, true);
  yield* drain(context, link, resumed);
  return true;
}

/** The session after the loss. The client's message about it may be the first that the server hears of the loss. */
function* recordAfter(
  context: Context,
  { id, connection }: LostConnection,
  { tenant, clientId, incarnation }: SessionRef,
): Flow<SessionRecord | undefined> {
  const { sessions, clock } = context.ports;
  const record = yield* waitFor(sessions.get(tenant, clientId));
  if (record?.session.incarnation !== incarnation) return undefined;
  if (record.attachment?.connectionId !== id) return record;
  const { connectedAtMs, expirySeconds, resumeSeconds } = connection;
  const atMs = clock.now();
  const will = graceOf(context.options, connectedAtMs, atMs, {});
  const ending = { atMs, expirySeconds, resumeSeconds, isLoss: true, will };
  yield* endConnection(context, departureOf({ id }, connection), ending);
  return yield* waitFor(sessions.get(tenant, clientId));
}

/** Whether the session has left its rooms: others believe that the client is gone, and its program does not know. */
function* hasLeftRooms({ ports: { presence } }: Context, { session, isPresent }: Connection): Flow<boolean> {
  if (presence === undefined || isPresent !== true) return false;
  return (yield* waitFor(presence.store.ownedBy(session))).length === 0;
}

function* attach(
  context: Context,
  link: Link,
  connection: Connection,
  { id: from }: LostConnection,
  { session: { incarnation }, will, bindingRank }: SessionRecord,
): Flow<SessionRef | undefined> {
  const { sessions, timers, clock } = context.ports;
  const { session, identity, expirySeconds, willDelaySeconds } = connection;
  const { tenant, clientId, attachment } = session;
  const isWillPublished = willDelaySeconds !== undefined && will === undefined;
  if (attachment === undefined || isWillPublished || (yield* hasLeftRooms(context, connection)))
    return undefined;
  const nowMs = clock.now();
  const opened = yield* waitFor(
    sessions.open({
      tenant,
      clientId,
      cleanStart: false,
      expirySeconds,
      attachment,
      identity,
      bindingRank,
      will,
      nowMs,
      resumes: { incarnation, from },
      isWillOwed: (...call) => isWillOwedTo(context, identity, ...call),
    }),
  );
  if (opened === 'owned-by-another') return undefined;
  yield* waitFor(timers.cancel({ kind: 'will', session, connectionId: from }));
  yield* waitFor(timers.cancel({ kind: 'session-expiry', session, connectionId: from }));
  if (opened.owedWillOf === undefined) return opened.session;
  yield* endConnection(context, departureOf(link, connection), {
    atMs: nowMs,
    expirySeconds,
    isRefused: true,
    will: 'discarded',
  });
  yield* publishWillOrRemind(context, opened.session, opened.owedWillOf);
  return undefined;
}
