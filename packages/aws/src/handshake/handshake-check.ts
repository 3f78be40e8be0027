import type { Awaitable } from '@apus/broker';
import type { HandshakeRefused, HandshakeRequest, HandshakeTaken } from '@apus/identity';
import type { RequestContext } from '../events/gateway.ts';

/** Finds the identity of a handshake: by its token (`Handshakes`), or by the signature that API Gateway has checked. */
export interface HandshakeCheck {
  identify(request: HandshakeRequest, context: RequestContext): Awaitable<HandshakeTaken | HandshakeRefused>;
}
