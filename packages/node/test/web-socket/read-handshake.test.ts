import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readHandshake } from '../../src/web-socket/read-handshake.ts';

const BYTES_MAX = 16 * 1024;

const LINES = [
  'GET /mqtt?token=a%20b HTTP/1.1',
  'Host: broker.example:8083',
  'Connection: keep-alive, Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: mqtt',
];

function requestOf(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function withLine(line: string): Buffer {
  return requestOf([...LINES, line]);
}

test('a plain handshake is read, and the bytes behind it are left', () => {
  const bytes = Buffer.concat([requestOf(LINES), Buffer.of(0x82, 0x80)]);
  const read = readHandshake(bytes, BYTES_MAX);
  expect(read?.url).toBe('/mqtt?token=a%20b');
  expect({ ...read?.headers }).toEqual({
    host: 'broker.example:8083',
    connection: 'keep-alive, Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'mqtt',
  });
  expect(bytes.subarray(read?.end)).toEqual(Buffer.of(0x82, 0x80));
});

describe('a request is left to http', () => {
  test.each([
    ['whose end has not come', requestOf(LINES).subarray(0, -1)],
    ['over the limit', withLine(`Cookie: ${'c'.repeat(BYTES_MAX)}`)],
    ['with more headers than a browser sends', requestOf([...LINES, ...Array(40).keys()].map(String))],
    ['with another method', requestOf(['POST /mqtt HTTP/1.1', ...LINES.slice(1)])],
    ['of HTTP/1.0', requestOf(['GET /mqtt HTTP/1.0', ...LINES.slice(1)])],
    ['with an absolute target', requestOf(['GET http://a/mqtt HTTP/1.1', ...LINES.slice(1)])],
    ['with two spaces before the version', requestOf(['GET /mqtt  HTTP/1.1', ...LINES.slice(1)])],
    ['with an empty line before it', requestOf(['', ...LINES])],
    ['without a host', requestOf(LINES.filter((line) => !line.startsWith('Host')))],
    ['that keeps its protocol', requestOf(LINES.filter((line) => !line.startsWith('Upgrade')))],
    ['whose connection stays', requestOf(LINES.map((line) => line.replace(', Upgrade', '')))],
    ['with a header twice', withLine('Upgrade: websocket')],
    ['with a header twice, in other letters', withLine('HOST: other.example')],
    ['with a folded header', withLine('X-A: 1\r\n 2')],
    ['with a bare line feed', withLine('X-A: 1\nX-B: 2')],
    ['with a bare carriage return', withLine('X-A: 1\rX-B: 2')],
    ['with a space before the colon', withLine('X-A : 1')],
    ['without a colon', withLine('X-A')],
    ['with a header without a name', withLine(': 1')],
    ['with a zero byte', withLine('X-A: 1\0')],
    ['with a tab within a value', withLine('X-A: 1\t2')],
    ['beyond ASCII', withLine('X-A: \u00e9')],
    ['with a length', withLine('Content-Length: 5')],
    ['with a transfer encoding', withLine('Transfer-Encoding: chunked')],
    ['that waits for 100', withLine('Expect: 100-continue')],
  ])('%s', (_, bytes) => {
    expect(readHandshake(bytes, BYTES_MAX)).toBeUndefined();
  });
});

test('a header with the name of a prototype is a header', () => {
  const headers = readHandshake(withLine('__proto__: polluted'), BYTES_MAX)?.headers;
  expect(Object.getPrototypeOf(headers)).toBeNull();
  expect(readHandshake(withLine('constructor: 1'), BYTES_MAX)?.headers.constructor).toBe('1');
});

interface HttpReading {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly head: Buffer;
}

/** How `http` reads a request: undefined where it takes it for no handshake. */
async function httpReader(): Promise<(bytes: Buffer) => Promise<HttpReading | undefined>> {
  const server = createServer();
  let tell: (reading: HttpReading | undefined) => void = () => {};
  server.on('upgrade', ({ url, headers }, socket, head) => {
    tell({ url, headers, head });
    socket.destroy();
  });
  server.on('request', (_, response) => {
    tell(undefined);
    response.end();
  });
  server.on('clientError', (_, socket) => {
    tell(undefined);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return async (bytes) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    const reading = await new Promise<HttpReading | undefined>((resolve) => {
      tell = resolve;
      socket.end(bytes);
    });
    socket.destroy();
    return reading;
  };
}

/** `http` reads each request that is read here in the same way: a stranger gains nothing by the shorter path. */
test('http agrees with all that is read, for requests that were tampered with', async () => {
  const readByHttp = await httpReader();
  const original = Buffer.concat([requestOf([...LINES, 'X-Forwarded-For: 192.0.2.1']), Buffer.of(0x82)]);
  const pieces = [
    '\r\n',
    '\n',
    '\r',
    ' ',
    ':',
    ',',
    '\t',
    'Host: b',
    'upgrade',
    '\0',
    '%',
    'Content-Length: 1',
  ];
  const edit = fc.record({
    at: fc.nat(original.length - 1),
    removed: fc.nat(3),
    added: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 2 })),
  });
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { maxLength: 2 }), async (edits) => {
      let bytes = original;
      for (const { at, removed, added } of edits)
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from(added, 'latin1'),
          bytes.subarray(at + removed),
        ]);
      const read = readHandshake(bytes, BYTES_MAX);
      if (read === undefined) return;
      taken += 1;
      const reading = await readByHttp(bytes);
      expect(reading).toEqual({
        url: read.url,
        headers: { ...read.headers },
        head: bytes.subarray(read.end),
      });
    }),
    { numRuns: 2_000, seed: 21 },
  );
  expect(taken).toBeGreaterThan(200);
});
