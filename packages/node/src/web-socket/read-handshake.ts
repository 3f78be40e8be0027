import type { IncomingMessage } from 'node:http';
import { HOST } from '../request-head.ts';

/** A handshake as `IncomingMessage` shows it. */
export type HandshakeHead = Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'headers' | 'socket'>;

/** Headers of browsers with a cookie take less than half of it. */
const HEAD_BYTES_MAX = 4096;
const HEADERS_MAX = 40;

const END = '\r\n\r\n';
const REQUEST_LINE = /^GET (\/[\x21-\x7e]*) HTTP\/1\.1$/;
/** A name and a value of visible characters, without the blanks around it. */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)[\t ]*$/;
const UPGRADE = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;

/** A request with one of these has a body, or asks for an answer before it is sent. */
const UNUSUAL_NAMES: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'expect',
  'trailer',
]);

export interface ReadHead {
  readonly url: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the bytes behind the handshake begin. */
  readonly end: number;
}

/**
 * Reads a WebSocket request (RFC 9112, section 3 and 5; RFC 6455, section 4.1) that came in one piece and is plain: no
 * header twice or empty, only visible ASCII, no body. Undefined for any other request: `http` reads it, and answers
 * what is wrong.
 *
 * @param bytesMax of the request, with its header
 */
export function readHandshake(bytes: Buffer, bytesMax: number): ReadHead | undefined {
  const end = bytes.indexOf(END, 0, 'latin1');
  if (end < 0 || end + END.length > Math.min(bytesMax, HEAD_BYTES_MAX)) return undefined;
  const lines = bytes.toString('latin1', 0, end).split('\r\n');
  const url = REQUEST_LINE.exec(lines[0] ?? '')?.[1];
  if (url === undefined || lines.length > HEADERS_MAX) return undefined;
  const headers: Record<string, string> = Object.create(null);
  for (let index = 1; index < lines.length; index += 1)
    if (!readHeader(lines[index] ?? '', headers)) return undefined;
  if (!HOST.test(headers.host ?? '') || headers.upgrade === undefined) return undefined;
  if (!UPGRADE.test(headers.connection ?? '')) return undefined;
  return { url, headers, end: end + END.length };
}

function readHeader(line: string, headers: Record<string, string>): boolean {
  const [, name, value] = HEADER.exec(line) ?? [];
  if (name === undefined || value === undefined) return false;
  const key = name.toLowerCase();
  if (headers[key] !== undefined || UNUSUAL_NAMES.has(key)) return false;
  headers[key] = value;
  return true;
}
