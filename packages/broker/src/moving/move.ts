import { ReasonCode, Violation } from '@apus/mqtt';
import { withHost } from '../connect/authorize.ts';
import { credentialOf, endForbidden, renewalRefusal } from '../connect/renew.ts';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Identity } from '../model/identity.ts';
import type { Connection, Link } from '../model/link.ts';
import { type ConnectionId, readsOnOf, type SessionRef } from '../model/session.ts';

/**
 * The connection that replaces `before` when its client goes on over `link` [SEC-MOVE-1]. A `Violation` if the client
 * may not. Changes nothing.
 */
export function connectionAfterMove(
  context: Context,
  link: Link,
  before: Connection,
  isReading = false,
): Connection | Violation {
  const { session, identity: shownBefore } = before;
  const { attachment } = session;
  if (attachment === undefined)
    return new Violation(ReasonCode.NotAuthorized, 'the session has no connection');
  const shown = link.peer.identity;
  if (shown === undefined && shownBefore.expiresAtMs !== undefined)
    return new Violation(ReasonCode.NotAuthorized, 'the new connection shows no token');
  const identity =
    shown === undefined ? shownBefore : withHost(context, sameAddress(shown, shownBefore), link.peer);
  const refusal = renewalRefusal(context, link, before, identity);
  if (refusal !== undefined) return refusal;
  const { expiresAtMs: _, holder: __, ...lasting } = attachment;
  const moved = {
    ...lasting,
    connectionId: link.id,
    ...(isReading && { readsOn: readsOnOf(attachment) }),
    ...credentialOf(context, link, identity),
  };
  return {
    ...before,
    session: { ...session, attachment: moved },
    identity,
    connectedAtMs: context.ports.clock.now(),
  };
}

/** Keeps the address of the first connection: the quotas count the identity's holdings there. */
function sameAddress(identity: Identity, { address }: Identity): Identity {
  return address === undefined ? identity : { ...identity, address };
}

/**
 * Gives the session, its will and its subscriptions to the connection of `link`, and ends subscriptions that the
 * identity is no longer allowed. False when another connection has taken the session over.
 */
export function* takeSession(
  context: Context,
  link: Link,
  from: ConnectionId,
  mayHaveOtherRules: boolean,
): Flow<boolean> {
  const { ports } = context;
  if (link.state.phase !== 'connected') return false;
  const { session, identity } = link.state.connection;
  const { attachment } = session;
  if (attachment === undefined) return false;
  const move = { from, nowMs: ports.clock.now() };
  const moved = yield* waitFor(ports.sessions.renew(session, attachment, identity, move));
  if (moved === undefined) return false;
  yield* moveSubscriptions(context, moved, identity, [from], mayHaveOtherRules);
  return true;
}

/**
 * Subscriptions that carry a connection of `from` carry the session's present one from now on. Those that are not
 * allowed any more end.
 *
 * An earlier move may have died before it had changed all of them, or still be at work, so the oldest connection comes
 * first:
 *
 *     move of O to N                     resume of N over P, for a client that knows of O
 *     filter a: from O to N
 *     (slow)                             a and b: from O to P; b
 *                                        a and b: from N to P; a
 *     b: fails, it does not carry O
 */
export function* moveSubscriptions(
  context: Context,
  session: SessionRef,
  identity: Identity,
  from: readonly ConnectionId[],
  mayHaveOtherRules: boolean,
): Flow<void> {
  const { ports } = context;
  const keepsNothing = session.attachment?.keepsNothing === true;
  const isAllAllowed = !mayHaveOtherRules || ports.authorizer.allowsEverything === true;
  if (isAllAllowed && !keepsNothing) return;
  const kept = isAllAllowed
    ? yield* waitFor(ports.subscriptions.list(session))
    : yield* endForbidden(context, session, identity);
  if (!keepsNothing) return;
  for (const each of from) yield* waitFor(ports.subscriptions.moved(session, each, kept));
}
