/** The first byte of CONNECT, with which MQTT begins [MQTT-3.1.0-1]. */
const CONNECT = 0x10;
/** The first byte of a TLS handshake. */
const HANDSHAKE = 0x16;

/** What a client speaks at a port for MQTT over TCP, if it is something else that is known. */
export function foreignToTcp(chunk: Uint8Array): string | undefined {
  if (chunk[0] === CONNECT) return undefined;
  if (chunk[0] === HANDSHAKE) return 'This port has no TLS.';
  const beginning = Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, 12)).toString(
    'latin1',
  );
  if (/^PROXY |^\r\n\r\n/.test(beginning)) return 'This port takes no PROXY protocol.';
  return /^[A-Z]{3,7} [/h*]/.test(beginning) ? 'This port is for MQTT over TCP, not for HTTP.' : undefined;
}

/** The same at a port for HTTP and WebSockets. */
export function foreignToHttp(chunk: Uint8Array): string | undefined {
  if (chunk[0] === HANDSHAKE) return 'This port has no TLS.';
  return chunk[0] === CONNECT ? 'This port is for MQTT over WebSocket, not for MQTT over TCP.' : undefined;
}
