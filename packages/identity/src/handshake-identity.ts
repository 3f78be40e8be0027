import type { Authenticator, Credentials, Identity, Refusal } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';

/** Takes a client for whom the handshake has shown it to be: for a door that lets no other client have a connection. */
export const handshakeAuthenticator: Authenticator = {
  authenticate({ peer }: Credentials): Identity | Refusal {
    return peer.identity ?? { refused: ReasonCode.NotAuthorized, reason: 'the handshake had no token' };
  },
};
