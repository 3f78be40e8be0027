/** A complete response. */
export interface HttpResponse {
  readonly status: number;
  /** One character for each byte. */
  readonly body: string;
  /** Another request may follow on the connection. */
  readonly keepsAlive: boolean;
}

/** The response is not HTTP/1.1 as RFC 9112 defines it, or is too long. The rest of the connection cannot be read. */
export class HttpFormatError extends Error {
  override readonly name = 'HttpFormatError';
}

/** The gateway's responses have some 500 bytes. */
const RESPONSE_BYTES_MAX = 64 * 1024;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\r\n]*)?\r\n/;
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const CHUNK_SIZE = /([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n/y;
const LENGTH = /^\d{1,10}$/;
const HEAD_END = '\r\n\r\n';

/**
 * Reads the answer to one request from all bytes that have come since, one character each. Undefined: some are
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
  // Informational: the answer follows.
  if (head.status < 200) return readResponse(bytes.slice(bodyStart), isEnded);
  const body = readBody(bytes, bodyStart, head, isEnded);
  if (body === undefined) {
    if (isEnded) throw new HttpFormatError('the connection ended within the body');
    return undefined;
  }
  if (body.end < bytes.length) throw new HttpFormatError('unexpected bytes follow the response');
  const keepsAlive = head.keepsAlive && head.framing !== 'until-close' && !isEnded;
  return { status: head.status, body: body.text, keepsAlive };
}

const CONTENT_LENGTH = 'content-length';
const TRANSFER_ENCODING = 'transfer-encoding';
const CONNECTION = 'connection';

function isField(name: string, known: string): boolean {
  return name === known || name.toLowerCase() === known;
}

/** Known names of fields: those that every response of a server has are checked once. */
const fieldNames = new Set<string>();
const FIELD_NAMES_MAX = 100;

function isFieldName(name: string): boolean {
  if (fieldNames.has(name)) return true;
  if (!FIELD_NAME.test(name)) return false;
  if (fieldNames.size < FIELD_NAMES_MAX) fieldNames.add(name);
  return true;
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
  for (let start = line.length; start < headEnd; ) {
    const end = bytes.indexOf('\r\n', start);
    const colon = bytes.indexOf(':', start);
    const name = bytes.slice(start, colon);
    if (colon === -1 || colon > end || !isFieldName(name))
      throw new HttpFormatError('a header field is malformed');
    switch (name.length) {
      case CONTENT_LENGTH.length:
        if (isField(name, CONTENT_LENGTH)) length = oneLength(length, bytes.slice(colon + 1, end).trim());
        break;
      case TRANSFER_ENCODING.length:
        if (isField(name, TRANSFER_ENCODING))
          coding = bytes
            .slice(colon + 1, end)
            .trim()
            .toLowerCase();
        break;
      case CONNECTION.length:
        if (isField(name, CONNECTION))
          connection = bytes
            .slice(colon + 1, end)
            .trim()
            .toLowerCase();
        break;
    }
    start = end + 2;
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
