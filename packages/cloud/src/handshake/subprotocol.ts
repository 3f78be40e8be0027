/** MQTT in text frames (docs/text-frames.md). */
export const SUBPROTOCOL = 'mqtt-text-v1';

type Headers = Readonly<Record<string, string | undefined>>;

/** The names a client offers in the handshake. */
export function offeredSubprotocols(headers: Headers = {}): string[] {
  const value = headerOf(headers, 'sec-websocket-protocol');
  return value === undefined ? [] : value.split(',').map((each) => each.trim());
}

/** API Gateway spells the names of headers as the client did. */
export function headerOf(headers: Headers, lowerCaseName: string): string | undefined {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === lowerCaseName);
  return name === undefined ? undefined : headers[name];
}
