import { isIP } from 'node:net';

/** The longest header of version 1, with its end of line (PROXY protocol, section 2.1). */
const TEXT_BYTES_MAX = 107;
/** The fixed part of version 2, and the most that follows it here: addresses, and the extensions of known proxies. */
const FIXED_BYTES = 16;
const REST_BYTES_MAX = 2048;

export const PROXY_HEADER_BYTES_MAX = FIXED_BYTES + REST_BYTES_MAX;

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const TEXT = /^PROXY (?:UNKNOWN(?: [^\r\n]*)?|TCP[46] (\S+) (\S+) (\d{1,5}) (\d{1,5}))$/;

const VERSION_2 = 0x20;
const Command = { local: 0, proxy: 1 } as const;
/** Family and transport of TCP over IPv4, and over IPv6. */
const TCP_4 = 0x11;
const TCP_6 = 0x21;

/** The client of a proxied connection. Undefined address: the proxy itself, which looks whether the port is open. */
export interface ProxyHeader {
  readonly source: { readonly address: string; readonly port: number } | undefined;
  /** Bytes of the header. What follows is the client's. */
  readonly length: number;
}

/** Reads the header of the PROXY protocol, version 1 or 2. 'more': it is not whole yet. */
export function readProxyHeader(bytes: Buffer): ProxyHeader | 'more' | 'wrong' {
  const known = Math.min(bytes.length, SIGNATURE.length);
  if (bytes.subarray(0, known).equals(SIGNATURE.subarray(0, known)))
    return known < SIGNATURE.length ? 'more' : readBinary(bytes);
  return readText(bytes);
}

function readText(bytes: Buffer): ProxyHeader | 'more' | 'wrong' {
  const end = bytes.subarray(0, TEXT_BYTES_MAX).indexOf('\r\n');
  if (end < 0) {
    const isBegun = 'PROXY '.startsWith(bytes.toString('latin1', 0, Math.min(bytes.length, 6)));
    return isBegun && bytes.length < TEXT_BYTES_MAX ? 'more' : 'wrong';
  }
  const match = TEXT.exec(bytes.toString('latin1', 0, end));
  if (match === null) return 'wrong';
  const [, address, , port] = match;
  const length = end + 2;
  if (address === undefined) return { source: undefined, length };
  const source = { address, port: Number(port) };
  return isIP(address) === 0 || source.port > 0xffff ? 'wrong' : { source, length };
}

function readBinary(bytes: Buffer): ProxyHeader | 'more' | 'wrong' {
  if (bytes.length < FIXED_BYTES) return 'more';
  const rest = bytes.readUInt16BE(14);
  const command = bytes.readUInt8(12) - VERSION_2;
  if (rest > REST_BYTES_MAX || (command !== Command.local && command !== Command.proxy)) return 'wrong';
  const length = FIXED_BYTES + rest;
  if (bytes.length < length) return 'more';
  if (command === Command.local) return { source: undefined, length };
  const family = bytes.readUInt8(13);
  if (family === TCP_4 && rest >= 12)
    return { source: { address: bytes.subarray(16, 20).join('.'), port: bytes.readUInt16BE(24) }, length };
  if (family === TCP_6 && rest >= 36)
    return { source: { address: ip6(bytes.subarray(16, 32)), port: bytes.readUInt16BE(48) }, length };
  return 'wrong';
}

function ip6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16));
  // The shortest form, as sockets have it.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
