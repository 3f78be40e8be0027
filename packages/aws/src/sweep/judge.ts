import { type Ban, type ConnectionId, isSuspension } from '@apus/broker';
import type {
  DynamoBans,
  SessionIncarnation,
  SessionName,
  Swept,
  SweptConnection,
  SweptList,
  SweptQueue,
  SweptSession,
} from '@apus/store-dynamodb';
import { CONNECTION_SECONDS_MAX } from '../options.ts';

/** Something in the table that may have to be repaired, after a second look. */
export type Finding =
  /** A connection that has sent no CONNECT in the time it has. */
  | { readonly what: 'silent'; readonly connectionId: ConnectionId }
  /** A connection that cannot exist any more: the gateway cut it at `endedAtMs`, and no $disconnect was handled. */
  | {
      readonly what: 'outlived';
      readonly connectionId: ConnectionId;
      readonly session: SessionName;
      readonly endedAtMs: number;
    }
  /** A connection that has ended: the process that noticed may have died before it told the session. */
  | {
      readonly what: 'ended';
      readonly connectionId: ConnectionId;
      readonly session: SessionName;
      readonly endedAtMs: number;
    }
  /** A session that was opened lately: the process may have died before it saved the connection. */
  | { readonly what: 'opened'; readonly connectionId: ConnectionId; readonly session: SessionName }
  /**
   * Messages wait for a session, and no acknowledgement comes: the messages in its window were never sent.
   */
  | {
      readonly what: 'stuck';
      readonly connectionId: ConnectionId;
      readonly session: SessionIncarnation;
      readonly waitsSinceMs: number;
    }
  /** A session that is due to end: the sweep is its timer, or its timer was lost. */
  | {
      readonly what: 'expired';
      readonly connectionId: ConnectionId;
      readonly session: SessionName & { readonly incarnation: string };
    }
  /** A will that is due, and that no process is publishing. */
  | { readonly what: 'will'; readonly connectionId: ConnectionId; readonly session: SessionName }
  /** A session without a connection, or an ended one, that is still in rooms: its timer or its handler has died. */
  | {
      readonly what: 'absent';
      readonly connectionId: ConnectionId;
      readonly session: SessionName & { readonly incarnation: string };
    }
  /** A session of a banned client: the operator's function has died, or the session was opened at the same time. */
  | { readonly what: 'banned'; readonly session: SessionName; readonly ban: Ban }
  /** A session with subscriptions: it may have ended while they were left. */
  | { readonly what: 'holder'; readonly session: SessionName & { readonly incarnation: string } };

/** The parameters of one pass. */
export interface Pass {
  readonly nowMs: number;
  /** An earlier pass has judged everything before this time. */
  readonly sinceMs: number;
  readonly connectTimeoutSeconds: number;
  /** Undefined where there are no bans. */
  readonly bans: Pick<DynamoBans, 'banOnSession'> | undefined;
}

/** Clocks of two processes, and of the gateway, may differ by this much; and a cut may be late. */
const LIFE_MARGIN_SECONDS = 300;

/**
 * A process may still be working on anything younger: a handler lives for five seconds, and a failed timer comes again
 * within minutes.
 */
const OLD_ENOUGH_SECONDS = 60;

/**
 * A handler that dies after it has written a message into a window, and before it posts the message, leaves that place
 * taken: on the same connection the message is not sent again [MQTT-4.4.0-1]. If all places of a window are taken like
 * this, only a new connection helps. So a connection whose client has acknowledged nothing for this long is closed, and
 * the client comes back.
 */
const STUCK_SECONDS = 300;

/** A session or will that has been due for longer has no timer, or its timer was lost. */
const LATE_SECONDS = 60;

export function judge(swept: Swept, pass: Pass): readonly Finding[] {
  switch (swept.kind) {
    case 'connection':
      return judgeConnection(swept, pass);
    case 'session':
      return judgeSession(swept, pass);
    case 'queue':
      return judgeQueue(swept, pass);
    case 'list':
      return judgeList(swept);
    // Counted, and never repaired.
    case 'retained':
    case 'shapes':
    case 'waiting':
    case 'retained-count':
    case 'holdings':
      return [];
  }
}

/** Whether the time is so long ago that no process works on the item any more. */
export function isOldEnough(atMs: number, pass: Pass): boolean {
  return isPast(atMs, OLD_ENOUGH_SECONDS, pass);
}

function judgeConnection(connection: SweptConnection, pass: Pass): readonly Finding[] {
  const { connectionId, beganAtMs, session, endedAtMs } = connection;
  if (endedAtMs !== undefined) {
    const isToBeToldOf = session !== undefined && isNew(endedAtMs, pass);
    return isToBeToldOf ? [{ what: 'ended', connectionId, session, endedAtMs }] : [];
  }
  if (session === undefined) {
    const isSilent = isPast(beganAtMs, pass.connectTimeoutSeconds, pass);
    return isSilent ? [{ what: 'silent', connectionId }] : [];
  }
  return isOutlived(beganAtMs, pass) ? [outlived(connectionId, session, beganAtMs)] : [];
}

function judgeSession(swept: SweptSession, pass: Pass): readonly Finding[] {
  const { tenant, clientId, incarnation, connectionId, lastConnectionId, attachedAtMs } = swept;
  const session = { tenant, clientId, incarnation };
  // [SEC-BAN-2]
  const ban = swept.identity && pass.bans?.banOnSession(swept.identity, clientId, swept.holder);
  // The session of a suspended tenant stays until it is due.
  const isEnded = ban !== undefined && isSuspension(ban) && connectionId === undefined;
  if (ban !== undefined && !isEnded) return [{ what: 'banned', session, ban }];
  const findings: Finding[] = [];
  // If the process that opened the session last is alive, it publishes these wills.
  if (isOldEnough(attachedAtMs, pass))
    for (const owner of swept.owedWillsOf) findings.push({ what: 'will', connectionId: owner, session });
  findings.push(...absentOf(swept, pass));
  if (connectionId !== undefined) {
    if (isOutlived(attachedAtMs, pass)) findings.push(outlived(connectionId, session, attachedAtMs));
    else if (isNew(attachedAtMs, pass)) findings.push({ what: 'opened', connectionId, session });
    return findings;
  }
  const { endsAtMs, willDueAtMs } = swept;
  if (incarnation !== '' && endsAtMs !== undefined && isPast(endsAtMs, LATE_SECONDS, pass))
    findings.push({ what: 'expired', connectionId: lastConnectionId, session });
  else if (willDueAtMs !== undefined && isPast(willDueAtMs, LATE_SECONDS, pass))
    findings.push({ what: 'will', connectionId: lastConnectionId, session });
  return findings;
}

/** Incarnations that have been in rooms without a connection for longer than their grace. */
function absentOf(
  {
    tenant,
    clientId,
    incarnation,
    lastConnectionId: connectionId,
    attachedAtMs,
    detachedAtMs,
    willDueAtMs = 0,
    incarnationsWithRooms,
  }: SweptSession,
  pass: Pass,
): readonly Finding[] {
  const isGone =
    detachedAtMs !== undefined && isPast(Math.max(detachedAtMs, willDueAtMs), LATE_SECONDS, pass);
  return incarnationsWithRooms.flatMap((each): Finding[] => {
    const isAbsent = each === incarnation ? isGone : isPast(attachedAtMs, LATE_SECONDS, pass);
    if (!isAbsent) return [];
    return [{ what: 'absent', connectionId, session: { tenant, clientId, incarnation: each } }];
  });
}

function judgeQueue(
  { tenant, clientId, incarnation, connectionId, waitsSinceMs }: SweptQueue,
  pass: Pass,
): readonly Finding[] {
  if (!isPast(waitsSinceMs, STUCK_SECONDS, pass)) return [];
  return [{ what: 'stuck', connectionId, session: { tenant, clientId, incarnation }, waitsSinceMs }];
}

/** Only the daily pass over the messages' table finds lists. */
function judgeList({ tenant, clientId, incarnation }: SweptList): readonly Finding[] {
  return [{ what: 'holder', session: { tenant, clientId, incarnation } }];
}

function outlived(connectionId: ConnectionId, session: SessionName, beganAtMs: number): Finding {
  const endedAtMs = beganAtMs + CONNECTION_SECONDS_MAX * 1_000;
  return { what: 'outlived', connectionId, session, endedAtMs };
}

function isOutlived(beganAtMs: number, pass: Pass): boolean {
  return isPast(beganAtMs, CONNECTION_SECONDS_MAX + LIFE_MARGIN_SECONDS, pass);
}

function isPast(sinceMs: number, seconds: number, { nowMs }: Pass): boolean {
  return nowMs - sinceMs > seconds * 1_000;
}

/** No process is working on it, and no earlier pass has judged it. */
function isNew(atMs: number, pass: Pass): boolean {
  return isOldEnough(atMs, pass) && atMs >= pass.sinceMs;
}
