import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import { type Link, namesOf } from '../model/link.ts';
import type { ConnectionId } from '../model/session.ts';
import { departureOf } from './disconnect.ts';
import { endConnection } from './end-connection.ts';
import { discardState } from './end-session.ts';
import { graceOf, type Loss } from './grace.ts';
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
  const isFirst = yield* endConnection(context, departureOf(link, connection), ending);
  if (isFirst) return;
  const { tenant, clientId, incarnation } = connection.session;
  const record = yield* waitFor(context.ports.sessions.get(tenant, clientId));
  // A packet was handled while another process ended the session: what it has stored is deleted.
  if (record?.session.incarnation !== incarnation) yield* discardState(context, connection.session);
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
  const { sessions, clock, log } = context.ports;
  const record = yield* waitFor(sessions.get(tenant, clientId));
  if (record?.attachment?.connectionId !== connectionId) return false;
  log.info('connection-lost-unnoticed', { connectionId, tenant, clientId });
  const { session, identity, attachedAtMs, expirySeconds } = record;
  const willDelaySeconds = willDelaySecondsOf(record.will);
  const atMs = loss.atMs ?? clock.now();
  const will = graceOf(context.options, attachedAtMs, atMs, loss);
  const departure = { session, connectionId, identity, connectedAtMs: attachedAtMs, willDelaySeconds };
  return yield* endConnection(context, departure, { atMs, expirySeconds, isLoss: true, will });
}
