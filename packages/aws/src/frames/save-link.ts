import { isDeepStrictEqual } from 'node:util';
import type { LinkState } from '@apus/broker';
import type { GatewayLink } from '../connections/gateway-link.ts';
import type { Outbox } from '../outbox.ts';

/**
 * Saves the state of the connection, if the frame has changed it. False: the connection ended while its frame was
 * handled, and the frame's effects are undone as for a loss.
 *
 * A SUBSCRIBE without retained messages to send leaves the state as it was. Then the connection is read again, which
 * costs a fifth of a write:
 *
 *     handler of SUBSCRIBE               $disconnect's handler
 *     loads the connection
 *                                        ends it; clears the session: finds no subscription
 *     stores the subscription
 *     reads the connection: it has ended, so the handler clears the session as well
 *
 * If this read finds no end, the end comes later, and its handler finds the subscription.
 */
export async function saveLink(
  { links, broker }: Outbox,
  link: GatewayLink,
  loaded: LinkState,
  hasSubscribed: boolean,
): Promise<boolean> {
  const { state, id } = link;
  const isAsLoaded = isDeepStrictEqual(state, loaded);
  if (isAsLoaded && !hasSubscribed) return true;
  if (state.phase === 'closed') {
    // If the server closes the connection, the client is told first: see `endLink`.
    if (link.endedBy !== 'server') await links.end(id);
    return true;
  }
  const isOpen = isAsLoaded ? (await links.load(id))?.phase !== 'closed' : await links.save(id, state);
  if (!isOpen) await broker.lost(link, 'ended while its frame was handled');
  return isOpen;
}

/**
 * A frame without a reply may be handled beside another frame, and a save replaces the whole item of the connection.
 * So such a frame sends no retained messages, and saves only the end of the connection:
 *
 *     handler of PUBACK, no reply        handler of SUBSCRIBE q
 *     loads: r is at its second page
 *                                        loads the same; saves: r, q
 *     (were it to send the page and save: r at its third …)
 * … q would be lost; where this one had sent the page as well, it would come twice
 */
export function leaveReplays(link: GatewayLink): void {
  const { state } = link;
  if (state.phase === 'connected' && state.replays.length > 0) link.state = { ...state, replays: [] };
}

/** Saves only the end of the connection: see `leaveReplays`. */
export async function saveEnd(outbox: Outbox, link: GatewayLink, loaded: LinkState): Promise<boolean> {
  const goesOn = loaded.phase === 'connected' && link.state.phase === 'connected';
  return goesOn || (await saveLink(outbox, link, loaded, false));
}
