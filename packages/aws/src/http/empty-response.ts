import type { HttpResponse } from './response.ts';

const START = Buffer.from('HTTP/1.1 ');
const STATUS_BYTES = 3;
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const COLON = 0x3a;
const ZERO = 0x30;

/** For each byte: its lower-case form in a field name (RFC 9110, section 5.6.2); 0 where it is not allowed. */
const NAME_LETTERS = new Uint8Array(256);
for (const byte of Buffer.from("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"))
  NAME_LETTERS[byte] = byte;
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ')) NAME_LETTERS[byte] = byte + 0x20;

const CONTENT_LENGTH = Buffer.from('content-length');
const TRANSFER_ENCODING = Buffer.from('transfer-encoding');
const CONNECTION = Buffer.from('connection');
const KEEP_ALIVE = Buffer.from('keep-alive');

/** One of each status: they are never changed. */
const responses = new Map<number, HttpResponse>();

/**
 * Reads the answer to nearly every post, in place and without a string: a head that has come in one piece,
 * `Content-Length: 0`, and a connection that stays open. Undefined for any other response, an incomplete one, and
 * bytes that are not HTTP: `readResponse` reads these.
 */
export function readEmptyResponse(bytes: Uint8Array, length: number): HttpResponse | undefined {
  const status = statusOf(bytes, length);
  if (status < 200) return undefined;
  let hasLength = false;
  let offset = lineEnd(bytes, START.length + STATUS_BYTES, length);
  for (;;) {
    if (offset < 0) return undefined;
    if (bytes[offset] === CR) break;
    const colon = nameEnd(bytes, offset, length);
    if (colon < 0) return undefined;
    const end = lineEnd(bytes, colon + 1, length);
    switch (colon - offset) {
      case CONTENT_LENGTH.length:
        if (!isName(bytes, offset, CONTENT_LENGTH)) break;
        if (hasLength || !isZero(bytes, colon + 1, end)) return undefined;
        hasLength = true;
        break;
      case TRANSFER_ENCODING.length:
        if (isName(bytes, offset, TRANSFER_ENCODING)) return undefined;
        break;
      case CONNECTION.length:
        if (isName(bytes, offset, CONNECTION) && !isKeepAlive(bytes, colon + 1, end)) return undefined;
        break;
    }
    offset = end;
  }
  const isWhole = bytes[offset + 1] === LF && offset + 2 === length;
  return hasLength && isWhole ? responseOf(status) : undefined;
}

/** 0 where there is none. */
function statusOf(bytes: Uint8Array, length: number): number {
  if (length <= START.length + STATUS_BYTES) return 0;
  for (let index = 0; index < START.length; index += 1) if (bytes[index] !== START[index]) return 0;
  let status = 0;
  for (let index = START.length; index < START.length + STATUS_BYTES; index += 1) {
    const digit = (bytes[index] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return 0;
    status = status * 10 + digit;
  }
  const next = bytes[START.length + STATUS_BYTES];
  return status < 600 && (next === SPACE || next === CR) ? status : 0;
}

/** Where the next line begins; -1 when this one has no end, or one that is not CR LF. */
function lineEnd(bytes: Uint8Array, from: number, length: number): number {
  let offset = from;
  while (offset < length && bytes[offset] !== CR && bytes[offset] !== LF) offset += 1;
  return offset + 1 < length && bytes[offset] === CR && bytes[offset + 1] === LF ? offset + 2 : -1;
}

/** Where the colon stands; -1 when something stands before it that is no name. */
function nameEnd(bytes: Uint8Array, from: number, length: number): number {
  let offset = from;
  while (offset < length && NAME_LETTERS[bytes[offset] ?? 0] !== 0) offset += 1;
  return offset > from && offset < length && bytes[offset] === COLON ? offset : -1;
}

function isName(bytes: Uint8Array, from: number, name: Uint8Array): boolean {
  for (let index = 0; index < name.length; index += 1) {
    if (NAME_LETTERS[bytes[from + index] ?? 0] !== name[index]) return false;
  }
  return true;
}

function isBlank(byte = 0): boolean {
  return byte === SPACE || byte === TAB;
}

/** `next` is where the next line begins. */
function isZero(bytes: Uint8Array, from: number, next: number): boolean {
  let offset = from;
  while (isBlank(bytes[offset])) offset += 1;
  return bytes[offset] === ZERO && offset + 3 === next;
}

function isKeepAlive(bytes: Uint8Array, from: number, next: number): boolean {
  let offset = from;
  while (isBlank(bytes[offset])) offset += 1;
  return offset + KEEP_ALIVE.length + 2 === next && isName(bytes, offset, KEEP_ALIVE);
}

function responseOf(status: number): HttpResponse {
  const known = responses.get(status);
  if (known !== undefined) return known;
  const response = { status, body: '', keepsAlive: true };
  responses.set(status, response);
  return response;
}
