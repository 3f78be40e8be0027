import type { ConnectionId, Identity, OpenedSession, OpenSession } from '@apus/broker';

/**
 * A connection or session that has begun, or ended. Each is reported once at its beginning and once at its end, except
 * after crashes.
 */
export interface HeldChange {
  readonly of: 'connections' | 'sessions';
  /** The identifier of the connection, or of the session's incarnation: clients do not choose it. */
  readonly id: string;
  readonly by: 1 | -1;
  readonly identity: Identity;
  readonly clientId: string;
}

/** The changes of an `open`: a connection has begun, and the previous connection and session may have ended. */
export function changesOfOpen(request: OpenSession, opened: OpenedSession): HeldChange[] {
  const { identity, clientId, attachment } = request;
  const { session, previous, present } = opened;
  const begun = { by: 1, identity, clientId } as const;
  const ended = previous && ({ by: -1, identity: previous.identity, clientId } as const);
  return [
    { of: 'connections', id: attachment.connectionId, ...begun },
    ...(ended && previous.attachment !== undefined
      ? [{ of: 'connections', id: previous.attachment.connectionId, ...ended } as const]
      : []),
    // A session that continues may have come to another address, and is counted there from now on.
    ...(present && ended && previous.identity.address === identity.address
      ? []
      : [
          { of: 'sessions', id: session.incarnation, ...begun } as const,
          ...(ended ? [{ of: 'sessions', id: previous.session.incarnation, ...ended } as const] : []),
        ]),
  ];
}

/** A connection has replaced another. */
export function changesOfMove(
  from: ConnectionId,
  to: ConnectionId,
  identity: Identity,
  clientId: string,
): HeldChange[] {
  return [
    { of: 'connections', id: to, by: 1, identity, clientId },
    endOfConnection(from, identity, clientId),
  ];
}

export function endOfConnection(id: ConnectionId, identity: Identity, clientId: string): HeldChange {
  return { of: 'connections', id, by: -1, identity, clientId };
}

export function endOfSession(id: string, identity: Identity, clientId: string): HeldChange {
  return { of: 'sessions', id, by: -1, identity, clientId };
}
