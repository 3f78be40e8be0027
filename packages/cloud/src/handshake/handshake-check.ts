import type { Awaitable } from '@apus/broker';
import type { HandshakeRefused, HandshakeRequest, HandshakeTaken } from '@apus/identity';
import type { RequestContext } from '../events/gateway.ts';

/** Finds out whose a handshake is: by a token that it shows (`Handshakes`), or by what API Gateway has checked. */
export interface HandshakeCheck {
  identify(request: HandshakeRequest, context: RequestContext): Awaitable<HandshakeTaken | HandshakeRefused>;
}
