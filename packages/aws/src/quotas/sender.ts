import { type Identity, type LinkState, type Peer, withAddress } from '@apus/broker';

/**
 * The identity that is charged for a frame. Before CONNECT it is the identity that the handshake has shown, or the
 * address alone.
 */
export function senderOf(state: LinkState, peer: Peer, tenant: string): Identity {
  if (state.phase === 'connected') return state.connection.identity;
  return withAddress(peer.identity ?? { tenant, name: '' }, peer);
}
