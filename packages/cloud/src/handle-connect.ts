import type { ConnectEvent, ProxyResult } from './events.ts';
import { offeredSubprotocols, SUBPROTOCOL } from './subprotocol.ts';

/**
 * `$connect`: takes the connection when the client speaks the text frames. Nothing is stored before CONNECT, so a
 * socket that never says it costs nothing but its minutes.
 */
export function handleConnect(event: ConnectEvent): ProxyResult {
  if (!offeredSubprotocols(event.headers).includes(SUBPROTOCOL)) {
    return { statusCode: 400, body: `The client has to offer the WebSocket subprotocol "${SUBPROTOCOL}".` };
  }
  return { statusCode: 200, headers: { 'Sec-WebSocket-Protocol': SUBPROTOCOL } };
}
