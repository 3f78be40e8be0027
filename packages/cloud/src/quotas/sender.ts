import { type Identity, type LinkState, type Peer, withAddress } from '@apus/broker';

/**
 * The identity that is charged for a frame. Until CONNECT has been handled, this is the identity of the handshake, or
 * the address alone.
 */
export function senderOf(state: LinkState, peer: Peer, tenant: string): Identity {
  if (state.phase === 'connected') return state.connection.identity;
  return withAddress(peer.identity ?? { tenant, name: '' }, peer);
}
