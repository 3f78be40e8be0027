import { encodeBase64Url } from './base64.ts';
import { BINARY_SUBPROTOCOL, SUBPROTOCOL, SUBPROTOCOL_WITH_OFFER } from './limits.ts';

/** The subprotocols of text frames. */
export const TEXT_PROTOCOLS: readonly string[] = [SUBPROTOCOL_WITH_OFFER, SUBPROTOCOL];

/** The subprotocols of a new session: a server without text frames chooses the last one. */
export const PROTOCOLS: readonly string[] = [...TEXT_PROTOCOLS, BINARY_SUBPROTOCOL];

/**
 * The subprotocols that a server chooses when CONNECT came with the handshake (15): it has accepted with an ordinary
 * CONNACK, or its first reply brings CONNACK.
 */
const ACCEPTED = `${SUBPROTOCOL_WITH_OFFER}-0`;
const HANDLED = `${SUBPROTOCOL_WITH_OFFER}-1`;

/** The secret of a ticket. */
export function newSecret(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(16)));
}

/** Offers CONNECT with the handshake. `names`: the extensions, in parentheses. */
export function withConnect(connect: Uint8Array, secret: string, names: string): readonly string[] {
  const extensions = names.slice(1, -1).replaceAll(',', '+');
  return [`mqtt-connect.${secret}.${extensions}.${encodeBase64Url(connect)}`, ACCEPTED, HANDLED];
}

/** What a server has chosen. 'accepted', 'handled': CONNECT has come with the handshake. Undefined: none of ours. */
export function choiceOf(protocol: string): 'accepted' | 'handled' | 'frames' | 'binary' | undefined {
  if (protocol === ACCEPTED) return 'accepted';
  if (protocol === HANDLED) return 'handled';
  if (TEXT_PROTOCOLS.includes(protocol)) return 'frames';
  return protocol === BINARY_SUBPROTOCOL ? 'binary' : undefined;
}
