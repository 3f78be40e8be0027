import type { ConnectionId, LinkState } from '@apus/broker';
import { Violation } from '@apus/mqtt';
import { tellLost } from '../connections/lose.ts';
import type { ProxyResult } from '../events/gateway.ts';
import { DONE, endLink, type HandledFrame } from './answer-frame.ts';
import { formatReply, type MoveRefusal, refusedAs } from './text-frame.ts';
import { hashOf, isTicketOf, movableWith, nextTicket, type Ticket, ticketText } from './tickets.ts';

export const NO_BYTES = new Uint8Array();

export type Connected = Extract<LinkState, { phase: 'connected' }>;

/**
 * Moves a session to this connection, N, from O, the one that the ticket names (docs/text-frames.md, section 12):
 *
 *     1. O's item: the session has moved to N. From now on frames on O are refused.
 *     2. N's item: the state that O had.
 *     3. O is closed. A publisher whose post finds O gone reads in O's item where to post.
 *     4. The session, its will, its record and its subscriptions: they belong to N.
 *     5. The reply. The client has held the packets on N until O closed, and goes on.
 *
 * At any moment one socket takes posts, so messages keep their order. With `cutAfterMs` step 3 comes after step 4, and
 * messages keep their order within each subscription, since some subscriptions may carry N already. If no reply comes
 * the client repeats its frame, and each step can be repeated. A client that is gone meanwhile leaves a session that
 * is lost with N.
 */
export async function handleMove(handled: HandledFrame, ticket: Ticket | undefined): Promise<ProxyResult> {
  const { environment, outbox, link } = handled;
  const { links, broker, poster } = outbox;
  const { cutAfterMs } = environment;
  const before = ticket && (await stateToMove(handled, ticket));
  if (ticket === undefined || before === undefined) return refuse(handled, 'unknown');
  if (hasMoreToSend(before)) return refuse(handled, 'later');
  const { connectionId: from } = ticket;
  const { isReading = false } = before;
  const repeated = link.state.phase === 'connected' ? link.state : undefined;
  const mayHaveOtherRules = repeated !== undefined || link.peer.identity !== undefined;
  const connection = repeated?.connection ?? broker.connectionAfterMove(link, before.connection, isReading);
  if (connection instanceof Violation) return refuse(handled, 'refused', connection.reason);
  if ((await links.move(from, link.id)) === undefined) return refuse(handled, 'unknown');
  const next = nextTicket(ticket, link.id);
  link.state = repeated ?? {
    phase: 'connected',
    connection,
    isDraining: false,
    replays: [],
    ...(isReading && { isReading }),
    ticket: hashOf(next),
  };
  if (!(await links.adopt(link.id, link.state))) return await lose(handled, from, before);
  if (cutAfterMs === 0) await poster.delete(from);
  const isTaken = await broker.takeSession(link, from, mayHaveOtherRules);
  if (isTaken) await outbox.commit();
  if (cutAfterMs > 0) {
    await environment.sleep(cutAfterMs);
    await poster.delete(from);
  }
  if (!isTaken) return await endLink(handled);
  // A $disconnect that came before the session belonged to this connection has found nothing to end.
  if ((await links.load(link.id))?.phase === 'closed') return await lose(handled, link.id, link.state);
  environment.log.debug('moved', { connectionId: link.id, from, clientId: connection.session.clientId });
  const body = formatReply({
    bytes: NO_BYTES,
    more: outbox.stores?.isMoreWaiting === true,
    move: movableWith(environment, ticketText(next), connection.resumeSeconds),
  });
  return { statusCode: 200, body };
}

/** The state of the connection that the ticket names. Undefined: its session cannot move here. */
async function stateToMove({ outbox, link }: HandledFrame, ticket: Ticket): Promise<Connected | undefined> {
  const found = await outbox.links.load(ticket.connectionId);
  const isHere = found?.phase === 'closed' && found.movedTo === link.id;
  const state = isHere ? found.before : found;
  if (state?.phase !== 'connected' || !isTicketOf(state.ticket, ticket)) return undefined;
  // A connection that has a session of its own takes no other.
  return isHere || link.state.phase === 'new' ? state : undefined;
}

/** The client has to fetch something first, before the session moves. */
function hasMoreToSend({ isDraining, replays, reauthentication }: Connected): boolean {
  return isDraining || replays.length > 0 || reauthentication !== undefined;
}

export function refuse(
  { environment, link }: HandledFrame,
  why: MoveRefusal,
  reason = 'the ticket is not that of a connection',
): ProxyResult {
  environment.log.info('move-refused', { connectionId: link.id, address: link.peer.address, why, reason });
  return { statusCode: 200, body: formatReply({ bytes: NO_BYTES, more: false, move: refusedAs(why) }) };
}

/** The client is gone from both connections. */
export async function lose(
  { outbox, link }: HandledFrame,
  connectionId: ConnectionId,
  state: LinkState,
): Promise<ProxyResult> {
  const { broker, poster } = outbox;
  if (connectionId !== link.id) await poster.delete(connectionId);
  await tellLost(broker, connectionId, state, 'ended while its session moved');
  await outbox.commit();
  return DONE;
}
