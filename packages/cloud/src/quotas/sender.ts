import { type Identity, type LinkState, type Peer, withAddress } from '@apus/broker';

/** In whose name a frame is charged: until CONNECT has been handled that of the handshake, or of the address alone. */
export function senderOf(state: LinkState, peer: Peer, tenant: string): Identity {
  if (state.phase === 'connected') return state.connection.identity;
  return withAddress(peer.identity ?? { tenant, name: '' }, peer);
}
