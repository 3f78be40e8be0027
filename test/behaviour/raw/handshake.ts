import { doorUnderTest } from '../../support/door.ts';

/** A handshake at the door under test, as far as the empty line behind its headers. */
export const handshake = () =>
  'GET /mqtt HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
  `Sec-WebSocket-Protocol: ${doorUnderTest === 'gateway' ? 'mqtt-text-v1' : 'mqtt'}\r\n`;
