import { createHash } from 'node:crypto';
import type { HandshakeHead } from './read-handshake.ts';

/** Section 1.3 of RFC 6455. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';

/** Why a request is no opening handshake (section 4.2.1): an HTTP status and a sentence. */
export interface UpgradeRefusal {
  readonly status: number;
  readonly reason: string;
  readonly headers?: string;
}

/** Undefined: it is a handshake that may be answered. */
export function upgradeRefusal({ method, httpVersion, headers }: HandshakeHead): UpgradeRefusal | undefined {
  if (Number(httpVersion) < 1.1 || !headers.host)
    return { status: 400, reason: 'A WebSocket is asked for with HTTP/1.1, and a Host.' };
  if (method !== 'GET')
    return { status: 405, reason: 'A WebSocket is asked for with GET.', headers: 'Allow: GET\r\n' };
  if (headers.upgrade?.toLowerCase() !== 'websocket')
    return { status: 400, reason: 'The only protocol to upgrade to is "websocket".' };
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    return { status: 400, reason: 'Sec-WebSocket-Key has to be 16 bytes in base64.' };
  if (headers['sec-websocket-version'] !== VERSION)
    return {
      status: 426,
      reason: `The version of WebSocket has to be ${VERSION}.`,
      headers: `Upgrade: websocket\r\nSec-WebSocket-Version: ${VERSION}\r\n`,
    };
  return undefined;
}

/** The answer to a handshake (section 4.2.2), without extensions. */
export function upgradeAnswer({ headers }: HandshakeHead, subprotocol: string): string {
  const accept = createHash('sha1')
    .update(`${headers['sec-websocket-key']}${ACCEPT_SUFFIX}`)
    .digest('base64');
  return (
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    `Sec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${subprotocol}\r\n\r\n`
  );
}
