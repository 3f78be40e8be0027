/** A response that has come whole. */
export interface HttpResponse {
  readonly status: number;
  /** One character for each byte. */
  readonly body: string;
  /** Another request may follow on the connection. */
  readonly keepsAlive: boolean;
}

/** What came is not HTTP/1.1 as RFC 9112 has it, or too long: what else is on the connection cannot be told. */
export class HttpFormatError extends Error {
  override readonly name = 'HttpFormatError';
}

/** The gateway's responses have some 500 bytes. */
const RESPONSE_BYTES_MAX = 64 * 1024;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\r\n]*)?\r\n/;
const FIELD = /([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*)\r\n/y;
const CHUNK_SIZE = /([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n/y;
const LENGTH = /^\d{1,10}$/;
const HEAD_END = '\r\n\r\n';

/**
 * Reads the answer to one request from all bytes that have come since, one character each. Undefined while some are
 * missing. `isEnded`: the server has closed its side. Throws `HttpFormatError`.
 */
export function readResponse(bytes: string, isEnded: boolean): HttpResponse | undefined {
  if (bytes.length > RESPONSE_BYTES_MAX) throw new HttpFormatError('the response is too long');
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) {
    if (isEnded) throw new HttpFormatError('the connection ended within the response');
    return undefined;
  }
  const head = readHead(bytes, headEnd);
  const bodyStart = headEnd + HEAD_END.length;
  // Informational: the answer itself follows.
  if (head.status < 200) return readResponse(bytes.slice(bodyStart), isEnded);
  const body = readBody(bytes, bodyStart, head, isEnded);
  if (body === undefined) {
    if (isEnded) throw new HttpFormatError('the connection ended within the body');
    return undefined;
  }
  if (body.end < bytes.length) throw new HttpFormatError('something follows that nobody asked for');
  const keepsAlive = head.keepsAlive && head.framing !== 'until-close' && !isEnded;
  return { status: head.status, body: body.text, keepsAlive };
}

interface Head {
  readonly status: number;
  readonly keepsAlive: boolean;
  /** The length of the body in bytes, or how its end is known. */
  readonly framing: number | 'chunked' | 'until-close';
}

function readHead(bytes: string, headEnd: number): Head {
  const [line, minorVersion, statusText] = STATUS_LINE.exec(bytes) ?? [];
  if (line === undefined) throw new HttpFormatError('the response does not begin with a status line');
  const status = Number(statusText);
  let length: string | undefined;
  let coding: string | undefined;
  let connection = minorVersion === '1' ? 'keep-alive' : 'close';
  FIELD.lastIndex = line.length;
  while (FIELD.lastIndex < headEnd + 2) {
    const [, name, value = ''] = FIELD.exec(bytes) ?? [];
    if (name === undefined) throw new HttpFormatError('a header field is malformed');
    switch (name.toLowerCase()) {
      case 'content-length':
        length = oneLength(length, value.trim());
        break;
      case 'transfer-encoding':
        coding = value.trim().toLowerCase();
        break;
      case 'connection':
        connection = value.trim().toLowerCase();
        break;
    }
  }
  return { status, keepsAlive: connection === 'keep-alive', framing: framingOf(status, length, coding) };
}

/** Two lengths that differ are an attack or a defect (RFC 9112, section 6.3). */
function oneLength(known: string | undefined, value: string): string {
  if (!LENGTH.test(value) || (known !== undefined && known !== value)) {
    throw new HttpFormatError('the Content-Length is no number, or two');
  }
  return value;
}

function framingOf(status: number, length: string | undefined, coding: string | undefined): Head['framing'] {
  if (coding !== undefined) {
    if (coding !== 'chunked' || length !== undefined) {
      throw new HttpFormatError(
        `the Transfer-Encoding "${coding}" is not understood, or has a length beside it`,
      );
    }
    return 'chunked';
  }
  if (status === 204 || status === 304) return 0;
  return length === undefined ? 'until-close' : Number(length);
}

interface Body {
  readonly text: string;
  readonly end: number;
}

/** Undefined while it goes on. */
function readBody(bytes: string, start: number, { framing }: Head, isEnded: boolean): Body | undefined {
  if (framing === 'chunked') return readChunks(bytes, start);
  if (framing === 'until-close') return isEnded ? { text: bytes.slice(start), end: bytes.length } : undefined;
  const end = start + framing;
  return end <= bytes.length ? { text: bytes.slice(start, end), end } : undefined;
}

function readChunks(bytes: string, start: number): Body | undefined {
  let text = '';
  let offset = start;
  for (;;) {
    if (!bytes.includes('\r\n', offset)) return undefined;
    CHUNK_SIZE.lastIndex = offset;
    const [line, digits = ''] = CHUNK_SIZE.exec(bytes) ?? [];
    if (line === undefined) throw new HttpFormatError('the size of a chunk is malformed');
    const size = Number.parseInt(digits, 16);
    offset += line.length;
    if (size === 0) return endOfTrailers(bytes, offset, text);
    if (offset + size + 2 > bytes.length) return undefined;
    text += bytes.slice(offset, offset + size);
    offset += size;
    if (!bytes.startsWith('\r\n', offset)) throw new HttpFormatError('a chunk does not end where it should');
    offset += 2;
  }
}

/** Trailer fields, and an empty line. */
function endOfTrailers(bytes: string, start: number, text: string): Body | undefined {
  if (bytes.startsWith('\r\n', start)) return { text, end: start + 2 };
  const end = bytes.indexOf(HEAD_END, start);
  return end === -1 ? undefined : { text, end: end + HEAD_END.length };
}
