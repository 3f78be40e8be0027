/** A plain handshake of a WebSocket client for MQTT, as it stands on the wire. */
export const HANDSHAKE = [
  'GET /mqtt HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: mqtt',
  '\r\n',
].join('\r\n');
