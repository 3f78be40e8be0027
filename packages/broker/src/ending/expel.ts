import { Violation } from '@apus/mqtt';
import { reasonOfCode } from '../connect/client-events.ts';
import type { Context } from '../context.ts';
import { type Ban, type Expulsion, expulsionOf, refusalCodeOf, sentenceOf } from '../model/bans.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Identity } from '../model/identity.ts';
import { type Connection, type Link, namesOfSession } from '../model/link.ts';
import type { Attachment, SessionRef } from '../model/session.ts';
import type { SessionRecord } from '../ports/index.ts';
import { leaveRooms } from '../presence/leave-rooms.ts';
import { disconnectFor, sayDisconnect } from '../reply.ts';
import { departureOf } from './disconnect.ts';
import { endConnection } from './end-connection.ts';
import { endSession } from './end-session.ts';
import { NO_GRACE } from './grace.ts';
import { willDelaySecondsOf } from './will.ts';

/** Why this client is refused, whichever way in it takes; undefined if no ban names it [SEC-BAN-1]. */
export function banViolation(
  { ports: { bans } }: Context,
  link: Link,
  identity: Identity,
  clientId: string,
  codeOf = refusalCodeOf,
): Violation | undefined {
  const ban = bans?.banOn(identity, clientId, link.peer.host);
  return ban && new Violation(codeOf(ban), sentenceOf(ban));
}

/** The client was banned after its CONNECT, and has sent a packet: the packet is not handled. */
export function* expelLink(context: Context, link: Link, connection: Connection, ban: Ban): Flow<void> {
  const { session } = connection;
  const expulsion = expulsionOf(ban);
  noteExpelled(context, session, expulsion);
  sayDisconnect(link, connection, expulsion.reasonCode, expulsion.reason);
  link.close('server');
  link.state = { phase: 'closed' };
  const departure = departureOf(link, connection);
  yield* endConnection(context, departure, endingOf(context, connection.expirySeconds, expulsion));
}

/**
 * Ends the connection of a client for the operator: DISCONNECT, then the close. With `endsSession` it also ends the
 * session, connected or not. False when there was nothing to end.
 */
export function* expel(
  context: Context,
  tenant: string,
  clientId: string,
  expulsion: Expulsion,
  isMeant: (record: SessionRecord) => boolean,
): Flow<boolean> {
  const record = yield* waitFor(context.ports.sessions.get(tenant, clientId));
  if (record === undefined || !isMeant(record)) return false;
  if (record.attachment === undefined) {
    if (expulsion.endsSession) yield* endWaiting(context, record);
    return expulsion.endsSession;
  }
  noteExpelled(context, record.session, expulsion);
  yield* endAttached(context, record, record.attachment, expulsion);
  return true;
}

/** Ends the session in the store first: the store ends it only for its last connection. */
function* endAttached(
  context: Context,
  { session, attachedAtMs, expirySeconds, identity, will }: SessionRecord,
  attachment: Attachment,
  expulsion: Expulsion,
): Flow<void> {
  const { connectionId } = attachment;
  const departure = {
    session,
    connectionId,
    identity,
    connectedAtMs: attachedAtMs,
    willDelaySeconds: willDelaySecondsOf(will),
  };
  try {
    const disconnect = disconnectFor(attachment, expulsion.reasonCode, expulsion.reason);
    yield* waitFor(context.ports.connections.close(connectionId, disconnect));
  } finally {
    // A gateway reports no close that it was asked for, so the session is told here.
    yield* endConnection(context, departure, endingOf(context, expirySeconds, expulsion));
  }
}

function* endWaiting(context: Context, record: SessionRecord): Flow<void> {
  const { session, lastConnectionId } = record;
  const { sessions, timers } = context.ports;
  yield* waitFor(sessions.discardWill(session, lastConnectionId));
  for (const kind of ['will', 'session-expiry'] as const)
    yield* waitFor(timers.cancel({ kind, session, connectionId: lastConnectionId }));
  yield* leaveRooms(context, record, lastConnectionId);
  yield* endSession(context, session, lastConnectionId);
}

function endingOf(
  { ports: { clock } }: Context,
  expirySeconds: number,
  { reasonCode, endsSession, publishesWill }: Expulsion,
) {
  return {
    atMs: clock.now(),
    expirySeconds: endsSession ? 0 : expirySeconds,
    reason: reasonOfCode(reasonCode),
    will: publishesWill ? NO_GRACE : ('discarded' as const),
  };
}

function noteExpelled(
  { ports: { log } }: Context,
  session: SessionRef,
  { reasonCode, reason }: Expulsion,
): void {
  log.info('client-expelled', { ...namesOfSession(session), reasonCode, reason });
}
