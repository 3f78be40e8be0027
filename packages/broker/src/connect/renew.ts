import { ReasonCode, Violation } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { drain } from '../deliver/drain.ts';
import { banViolation } from '../ending/expel.ts';
import { expulsionCodeOf } from '../model/bans.ts';
import { bindingRank } from '../model/client-ids.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Identity } from '../model/identity.ts';
import { type Connection, type Link, type LinkState, namesOfSession, type Replay } from '../model/link.ts';
import { ofOneShape } from '../model/one-shape.ts';
import type { Attachment, SessionRef, Subscription } from '../model/session.ts';
import { withHost } from './authorize.ts';
import { isSameOwner } from './session-owner.ts';

/** The reason that a client is told when its identity has expired. */
export const IDENTITY_EXPIRED = 'the identity of this connection has expired';

type Connected = Extract<LinkState, { phase: 'connected' }>;

/**
 * A connected client has re-authenticated, or its rules have changed: its identity is now `shown` [SEC-EXPIRY-4].
 * Returns a `Violation`, and changes nothing, if it may not be.
 */
export function* renew(context: Context, link: Link, shown: Identity): Flow<Violation | undefined> {
  const { state } = link;
  if (state.phase !== 'connected') return undefined;
  const identity = withHost(context, shown, link.peer);
  const refusal = renewalRefusal(context, link, state.connection, identity);
  if (refusal !== undefined) return refusal;
  const { connection } = state;
  const attachment = attachmentFor(context, link, identity);
  const session =
    attachment && (yield* waitFor(context.ports.sessions.renew(connection.session, attachment, identity)));
  // Taken over: the new connection is about to close this one.
  if (session === undefined) return undefined;
  const kept = yield* endForbidden(context, session, identity);
  // The subscriptions of such a session carry its attachment, with the expiry in it.
  if (attachment?.keepsNothing === true)
    yield* waitFor(context.ports.subscriptions.moved(session, attachment.connectionId, kept));
  const shaped = ofOneShape(identity);
  link.state = withIdentity(link.state as Connected, { ...connection, session, identity: shaped }, kept);
  return undefined;
}

/** Ends the subscriptions of a session that its identity is no longer allowed. */
export function* recheck(context: Context, session: SessionRef, identity: Identity): Flow<void> {
  yield* endForbidden(context, session, identity);
}

/** Sends the messages that have waited for the renewal. */
export function* drainRenewed(context: Context, link: Link): Flow<void> {
  if (link.state.phase === 'connected') yield* drain(context, link, link.state.connection);
}

/**
 * Why a connection may not have this identity from now on, which AUTH, a move or a resume shows: it is another's, or is
 * banned or revoked [SEC-EXPIRY-3] [SEC-BAN-5].
 */
export function renewalRefusal(
  context: Context,
  link: Link,
  { identity: before, session }: Connection,
  identity: Identity,
): Violation | undefined {
  if (!isSameOwner(before, identity)) {
    return new Violation(ReasonCode.NotAuthorized, 'a renewed identity has to be that of CONNECT');
  }
  if (bindingRank(identity, session.clientId) === undefined)
    return new Violation(ReasonCode.NotAuthorized, 'the renewed identity may not use this client identifier');
  return banViolation(context, link, identity, session.clientId, expulsionCodeOf);
}

function attachmentFor(context: Context, link: Link, identity: Identity): Attachment | undefined {
  const { state } = link;
  if (state.phase !== 'connected' || state.connection.session.attachment === undefined) return undefined;
  const { expiresAtMs: _, holder: __, ...lasting } = state.connection.session.attachment;
  return { ...lasting, ...credentialOf(context, link, identity) };
}

/** The fields of an attachment that depend on the credential. */
export function credentialOf(
  { ports: { bans } }: Context,
  { peer }: Link,
  identity: Identity,
): Pick<Attachment, 'expiresAtMs' | 'holder'> {
  const { expiresAtMs } = identity;
  const holder = bans?.holderOf(identity, peer.host);
  return { ...(expiresAtMs !== undefined && { expiresAtMs }), ...(holder !== undefined && { holder }) };
}

/** Ends the subscriptions that the identity is not allowed, and returns the others [SEC-RULES-4]. */
export function* endForbidden(
  context: Context,
  session: SessionRef,
  identity: Identity,
): Flow<readonly Subscription[]> {
  const { subscriptions, authorizer, conflation, log } = context.ports;
  const held = yield* waitFor(subscriptions.list(session));
  const kept: Subscription[] = [];
  const forbidden: Subscription[] = [];
  for (const subscription of held) {
    const { topicFilter } = subscription;
    const isAllowed = yield* waitFor(
      authorizer.maySubscribe(identity, session.clientId, topicFilter, subscription),
    );
    (isAllowed ? kept : forbidden).push(subscription);
  }
  if (forbidden.length === 0) return held;
  yield* waitFor(subscriptions.remove(session, forbidden));
  // [SEC-RULES-9]
  for (const { topicFilter, shareGroup } of forbidden)
    if (shareGroup === undefined) conflation?.forget(session.key, topicFilter);
  log.warn('subscriptions-ended', { ...namesOfSession(session), count: forbidden.length });
  return kept;
}

function withIdentity(state: Connected, connection: Connection, kept: readonly Subscription[]): Connected {
  const { reauthentication: _, ...lasting } = state;
  // A shared subscription has no replay.
  const plain = new Set(kept.flatMap((each) => (each.shareGroup === undefined ? each.topicFilter : [])));
  const isKept = ({ topicFilter }: Replay) => plain.has(topicFilter);
  return { ...lasting, connection, replays: state.replays.filter(isKept) };
}
