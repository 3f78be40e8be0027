import type { Authenticator, Credentials, Identity, Refusal } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';

/** Uses the identity of the handshake: for a door that admits no other client. */
export const handshakeAuthenticator: Authenticator = {
  authenticate({ peer }: Credentials): Identity | Refusal {
    return peer.identity ?? { refused: ReasonCode.NotAuthorized, reason: 'the handshake had no token' };
  },
};
