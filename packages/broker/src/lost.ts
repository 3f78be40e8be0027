import type { Context } from './context.ts';
import { departureOf } from './end.ts';
import { discardState } from './end-session.ts';
import { type Flow, waitFor } from './flow.ts';
import { leave } from './leave.ts';
import { type Link, type LinkState, namesOf } from './link.ts';
import { graceOf, type Loss } from './loss.ts';
import { moveSubscriptions } from './move.ts';
import type { SessionRecord } from './ports/index.ts';
import type { ConnectionId } from './session.ts';
import { willDelaySecondsOf } from './will.ts';

/** The network connection was closed without DISCONNECT. */
export function* lost(context: Context, link: Link, why: string, loss: Loss): Flow<void> {
  const { state } = link;
  const names = namesOf(link);
  link.state = { phase: 'closed' };
  if (state.phase !== 'connected') return;
  const { connection } = state;
  const { connectedAtMs, expirySeconds, resumeSeconds } = connection;
  context.ports.log.debug('connection-lost', { ...names, why });
  const atMs = loss.atMs ?? context.ports.clock.now();
  const will = graceOf(context.options, connectedAtMs, atMs, loss);
  const ending = { atMs, expirySeconds, resumeSeconds, isLoss: true, will };
  const isFirst = yield* leave(context, departureOf(link, connection), ending);
  if (isFirst) return;
  const { tenant, clientId, incarnation } = connection.session;
  const record = yield* waitFor(context.ports.sessions.get(tenant, clientId));
  // A packet was handled while another process ended the session: what it has stored is deleted.
  if (record?.session.incarnation !== incarnation) yield* discardState(context, connection.session);
  else if (loss.hasSubscribed === true) yield* correctSubscribed(context, link, state, record);
}

/**
 * The session has gone on over a later connection, and a SUBSCRIBE of this one may have replaced a subscription of that
 * one:
 *
 *     handler of SUBSCRIBE, connection 1 handlers of connection 2
 *     begins, and is slow
 *                                        CONNECT, or resumes; SUBSCRIBE: stored for connection 2
 *     stores its own for connection 1
 *                                        (were it to stay …)
 *     … the client would be sent nothing more, and would not know
 *
 * A subscription that carries connection 1 carries connection 2 from now on. A reader of a stream cannot, as it has
 * been sent its past on connection 1: connection 2 ends as well, and the client subscribes with its positions.
 */
function* correctSubscribed(
  context: Context,
  { id }: Pick<Link, 'id'>,
  { isReading, connection }: Extract<LinkState, { phase: 'connected' }>,
  record: SessionRecord,
): Flow<void> {
  const { attachment, session } = record;
  if (attachment === undefined || attachment.connectionId === id) return;
  if (isReading !== true) return yield* moveSubscriptions(context, session, connection.identity, [id], false);
  yield* waitFor(context.ports.connections.close(attachment.connectionId, undefined));
  yield* loseAttached(context, record, attachment.connectionId, {});
}

/**
 * A network connection has ended and its session still names it: the process that noticed has died, or no process
 * noticed. False when the session has gone on without the connection.
 */
export function* lostUnnoticed(
  context: Context,
  tenant: string,
  clientId: string,
  connectionId: ConnectionId,
  loss: Loss,
): Flow<boolean> {
  const { sessions, log } = context.ports;
  const record = yield* waitFor(sessions.get(tenant, clientId));
  if (record?.attachment?.connectionId !== connectionId) return false;
  log.info('connection-lost-unnoticed', { connectionId, tenant, clientId });
  return yield* loseAttached(context, record, connectionId, loss);
}

/** The last connection of a session is over, and another process, or none, has its state. */
function* loseAttached(
  context: Context,
  record: SessionRecord,
  connectionId: ConnectionId,
  loss: Loss,
): Flow<boolean> {
  const { clock } = context.ports;
  const { session, identity, attachedAtMs, expirySeconds } = record;
  const willDelaySeconds = willDelaySecondsOf(record.will);
  const atMs = loss.atMs ?? clock.now();
  const will = graceOf(context.options, attachedAtMs, atMs, loss);
  const departure = { session, connectionId, identity, connectedAtMs: attachedAtMs, willDelaySeconds };
  return yield* leave(context, departure, { atMs, expirySeconds, isLoss: true, will });
}
