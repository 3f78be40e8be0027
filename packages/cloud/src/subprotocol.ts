/** MQTT in text frames (docs/text-frames.md). */
export const SUBPROTOCOL = 'mqtt-text-v1';

/** The names a client offers in the handshake; API Gateway spells the header as the client did. */
export function offeredSubprotocols(headers: Readonly<Record<string, string | undefined>> = {}): string[] {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === 'sec-websocket-protocol');
  const value = name === undefined ? undefined : headers[name];
  return value === undefined ? [] : value.split(',').map((each) => each.trim());
}
