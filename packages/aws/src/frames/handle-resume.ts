import type { ConnectionId, KeptPackets, LinkStore } from '@apus/broker';
import { Violation } from '@apus/mqtt';
import type { ProxyResult } from '../events/gateway.ts';
import { answerFrame, type HandledFrame } from './answer-frame.ts';
import { type Connected, lose, refuse } from './handle-move.ts';
import type { ClientFrame } from './text-frame.ts';
import { hashOf, isTicketOf, movableWith, nextTicket, type Ticket, ticketText } from './tickets.ts';

/** Moves whose replies the client did not get: the session has moved on since its ticket was made. */
const HOPS_MAX = 4;

/** Messages may be missing: more came than the store keeps, or they left with a reply that the client did not get. */
const GAP = ',g';

/** A connection that a client has lost. */
interface Lost {
  readonly ticket: Ticket;
  readonly state: Connected;
  /** Connections from which the session has moved there, in their order. */
  readonly earlier: readonly ConnectionId[];
  /** The server has noticed the loss. */
  readonly hasEnded: boolean;
}

/**
 * A client that has lost connection O goes on with its session over this connection, N (docs/text-frames.md, section
 * 12):
 *
 *     1. O ends, if the server has not noticed: its session waits for its client.
 *     2. The session belongs to N, and its will is withdrawn. Messages inflight are sent again, as after CONNECT.
 *     3. O's item: the session goes on over N. Packets that were kept there go into the reply. From now on a post that
 *        finds O gone goes to N, after the reply, unless the session's queue has sent it again.
 *     4. Its subscriptions carry N.
 *     5. N's item: the state that O had.
 *     6. The reply, with the waiting messages. The client does not repeat the frame: it may have got these messages.
 */
export async function handleResume(
  handled: HandledFrame,
  frame: ClientFrame,
  shown: Ticket | undefined,
): Promise<ProxyResult> {
  const { environment, outbox, link } = handled;
  const { links, broker, poster } = outbox;
  const fresh = link.state;
  const lost = shown && (await findLost(links, shown));
  if (lost === undefined || fresh.phase !== 'new') return refuse(handled, 'unknown');
  const { ticket, state: before, earlier, hasEnded } = lost;
  const { resumeSeconds = 0 } = before.connection;
  if (resumeSeconds === 0) return refuse(handled, 'unknown');
  const { connectionId: from } = ticket;
  const next = nextTicket(ticket, link.id);
  const connection = broker.connectionAfterMove(link, before.connection);
  if (connection instanceof Violation) return refuse(handled, 'refused', connection.reason);
  if (!hasEnded) {
    await links.end(from);
    await poster.delete(from);
  }
  const { replays } = before;
  link.state = { phase: 'connected', connection, isDraining: false, replays, ticket: hashOf(next) };
  const mayHaveOtherRules = link.peer.identity !== undefined;
  let kept: KeptPackets | undefined;
  const goesOn = async (): Promise<void> => {
    kept = await links.resume(from, link.id);
    for (const packet of kept?.packets ?? []) outbox.reply.push(packet, true);
  };
  const gone = { id: from, connection: before.connection, earlier, goesOn };
  const isResumed = await broker.resumeSession(link, gone, mayHaveOtherRules);
  await outbox.commit();
  if (!isResumed) {
    link.state = fresh;
    return refuse(handled, 'unknown', 'the session is over, or its will has been published');
  }
  if (!(await links.save(link.id, link.state))) return await lose(handled, link.id, link.state);
  environment.log.debug('resumed', { connectionId: link.id, from, clientId: connection.session.clientId });
  const hasMissed = (kept as KeptPackets | undefined)?.hasMissed !== false || ticket !== shown;
  const move = movableWith(environment, ticketText(next), resumeSeconds) + (hasMissed ? GAP : '');
  return await answerFrame(handled, frame, undefined, move);
}

/**
 * The connection that a ticket names. If the session has moved from there and its client does not know, the connection
 * that it has moved to, if that has ended.
 */
async function findLost(links: LinkStore, shown: Ticket): Promise<Lost | undefined> {
  let ticket = shown;
  const earlier: ConnectionId[] = [];
  for (let hops = 0; hops <= HOPS_MAX; hops += 1) {
    const found = await links.load(ticket.connectionId);
    const state = found?.phase === 'closed' ? found.before : found;
    if (state?.phase !== 'connected' || !isTicketOf(state.ticket, ticket)) return undefined;
    const hasEnded = found?.phase === 'closed';
    const movedTo: ConnectionId | undefined = found?.phase === 'closed' ? found.movedTo : undefined;
    if (movedTo === undefined)
      return hasEnded || hops === 0 ? { ticket, state, earlier, hasEnded } : undefined;
    earlier.push(ticket.connectionId);
    ticket = nextTicket(ticket, movedTo);
  }
  return undefined;
}
