/** MQTT in text frames (docs/text-frames.md). */
export const SUBPROTOCOL = 'mqtt-text-v1';

/** The subprotocol whose first frame may offer extensions (docs/text-frames.md, section 10). */
export const SUBPROTOCOL_WITH_OFFER = 'mqtt-text-v1.1';

type Headers = Readonly<Record<string, string | undefined>>;

/** The names a client offers in the handshake. */
export function offeredSubprotocols(headers: Headers): string[] {
  const value = headerOf(headers, 'sec-websocket-protocol');
  return value === undefined ? [] : value.split(',').map((each) => each.trim());
}

/** The newest subprotocol that client and server know. Undefined: there is none. */
export function chosenSubprotocol(headers: Headers = {}): string | undefined {
  const offered = offeredSubprotocols(headers);
  return [SUBPROTOCOL_WITH_OFFER, SUBPROTOCOL].find((each) => offered.includes(each));
}

/** API Gateway leaves the names of headers as the client has spelled them. */
export function headerOf(headers: Headers, lowerCaseName: string): string | undefined {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === lowerCaseName);
  return name === undefined ? undefined : headers[name];
}
