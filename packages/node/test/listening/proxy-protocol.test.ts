import { describe, expect, test } from 'vitest';
import { PROXY_HEADER_BYTES_MAX, readProxyHeader } from '../../src/listening/proxy-protocol.ts';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

/** A header of version 2. */
function binary(command: number, family: number, rest: Buffer): Buffer {
  const fixed = Buffer.from([0x20 | command, family, rest.length >> 8, rest.length & 0xff]);
  return Buffer.concat([SIGNATURE, fixed, rest]);
}

const IP_4 = Buffer.from([192, 0, 2, 7, 10, 0, 0, 1, 0x1f, 0x90, 0x07, 0x5b]);
const IP_6 = Buffer.concat([
  Buffer.from('20010db8000000000000000000000009', 'hex'),
  Buffer.from('20010db8000000000000000000000001', 'hex'),
  Buffer.from([0x1f, 0x90, 0x07, 0x5b]),
]);
const TLV = Buffer.from([0x03, 0x00, 0x04, 1, 2, 3, 4]);

describe('the header of a proxy', () => {
  test.each<[string, string | Buffer, object]>([
    ['of version 1', 'PROXY TCP4 192.0.2.7 10.0.0.1 8080 1883\r\n', { address: '192.0.2.7', port: 8080 }],
    [
      'of version 1 over IPv6',
      'PROXY TCP6 2001:db8::9 ::1 8080 1883\r\n',
      { address: '2001:db8::9', port: 8080 },
    ],
    ['of version 2', binary(1, 0x11, IP_4), { address: '192.0.2.7', port: 8080 }],
    ['of version 2 over IPv6', binary(1, 0x21, IP_6), { address: '2001:db8::9', port: 8080 }],
    ['with extensions', binary(1, 0x11, Buffer.concat([IP_4, TLV])), { address: '192.0.2.7', port: 8080 }],
  ])('%s names the client, however it is cut', (_which, text, source) => {
    const header = Buffer.from(text as string);
    const whole = Buffer.concat([header, Buffer.from([0x10, 0x0d, 0x0a])]);
    for (let bytes = 0; bytes < header.length; bytes += 1)
      expect(readProxyHeader(whole.subarray(0, bytes))).toBe('more');
    expect(readProxyHeader(whole)).toEqual({ source, length: header.length });
  });

  test.each<[string, string | Buffer]>([
    ['unknown', 'PROXY UNKNOWN\r\n'],
    ['unknown, with addresses', 'PROXY UNKNOWN ff:: ff:: 1 2\r\n'],
    ['local', binary(0, 0, Buffer.alloc(0))],
    ['local, with addresses', binary(0, 0x11, IP_4)],
  ])('that looks for itself names nobody: %s', (_which, text) => {
    const header = Buffer.from(text as string);
    expect(readProxyHeader(header)).toEqual({ source: undefined, length: header.length });
  });

  test.each<[string, string | Buffer]>([
    ['a packet of MQTT', Buffer.from([0x10, 0x0c, 0, 4])],
    ['HTTP', 'GET / HTTP/1.1\r\n'],
    ['no address', 'PROXY TCP4 a b 1 2\r\n'],
    ['a port too high', 'PROXY TCP4 192.0.2.7 10.0.0.1 80800 1\r\n'],
    ['a field too many', 'PROXY TCP4 192.0.2.7 10.0.0.1 1 2 3\r\n'],
    ['no end within 107 bytes', `PROXY UNKNOWN ${'x'.repeat(100)}`],
    ['another version', Buffer.concat([SIGNATURE, Buffer.from([0x11, 0x11, 0, 0])])],
    ['another command', binary(2, 0x11, IP_4)],
    ['UDP', binary(1, 0x12, IP_4)],
    ['an address that is cut', binary(1, 0x21, IP_4)],
    ['more than proxies send', binary(1, 0x11, Buffer.alloc(PROXY_HEADER_BYTES_MAX))],
  ])('is none: %s', (_which, text) => {
    expect(readProxyHeader(Buffer.from(text as string))).toBe('wrong');
  });
});
