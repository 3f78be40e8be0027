import type { Identity } from '@apus/broker';

/** Why a token is not accepted. `reason` is for the log and for the developer who reads the refused handshake. */
export interface TokenRefusal {
  readonly refused: 'missing' | 'invalid' | 'expired';
  readonly reason: string;
}

/** Checks the token of a handshake, before a socket exists that could cost money. */
export interface TokenVerifier {
  /** Rejects only when the keys cannot be had. */
  verify(token: string | undefined): Promise<Identity | TokenRefusal>;
}
