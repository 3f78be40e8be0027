import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { doorsForTest } from './support/doors.ts';

const SUBPROTOCOLS = { node: 'mqtt', gateway: 'mqtt-text-v1' } as const;
const HOST = 'Host: localhost';
/** A door that is not for this machine alone: there a foreign Host is refused with 403. */
const authenticator = { authenticate: () => ({ tenant: 'default', name: '' }) };

describe.each(['node', 'gateway'] as const)('at the %s door', (door) => {
  async function urlOf(): Promise<URL> {
    const doors = await doorsForTest({ gatewayPort: 0, authenticator });
    return new URL(door === 'node' ? doors.url : (doors.gateway?.url ?? ''));
  }

  /** The status line with which a handshake is answered. */
  async function answerTo(requestLine: string, ...headers: string[]): Promise<string> {
    const socket = connect(Number((await urlOf()).port), '127.0.0.1');
    socket.write(
      [
        requestLine,
        ...headers,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        `Sec-WebSocket-Protocol: ${SUBPROTOCOLS[door]}`,
        '\r\n',
      ].join('\r\n'),
    );
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return chunk.toString().split('\r\n')[0] ?? '';
  }

  const INHERITED = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];

  test.each(INHERITED)('[SEC-FAULT-1] a header named %s is one as any other, also twice', async (name) => {
    expect(await answerTo('GET /mqtt HTTP/1.1', HOST, `${name}: x`)).toMatch(/ 101 /);
    expect(await answerTo('GET /mqtt HTTP/1.1', HOST, `${name}: x`, `${name}: y`)).toMatch(/ 101 /);
  });

  test.each(INHERITED)('a parameter named %s is one as any other, also twice', async (name) => {
    expect(await answerTo(`GET /mqtt?${name}=x&${name}=y HTTP/1.1`, HOST)).toMatch(/ 101 /);
  });

  test.each([
    ['without a Host', 'GET /mqtt HTTP/1.1', []],
    ['with two', 'GET /mqtt HTTP/1.1', [HOST, HOST]],
    ['with two that differ in case', 'GET /mqtt HTTP/1.1', [HOST, 'HOST: evil.example']],
    ['with an empty one', 'GET /mqtt HTTP/1.1', ['Host:']],
    ['with one that is no host', 'GET /mqtt HTTP/1.1', ['Host: local host/mqtt']],
    ['with one that has a user', 'GET /mqtt HTTP/1.1', ['Host: a@localhost']],
    ['of HTTP/1.0', 'GET /mqtt HTTP/1.0', [HOST]],
    ['in absolute form without a Host', 'GET http://localhost/mqtt HTTP/1.1', []],
    ['for the URL of another scheme', 'GET ftp://localhost/mqtt HTTP/1.1', [HOST]],
    ['for a URL with a user', 'GET http://a@localhost/mqtt HTTP/1.1', [HOST]],
  ])('a handshake %s is refused with 400', async (_, requestLine, headers) => {
    expect(await answerTo(requestLine, ...headers)).toMatch(/ 400 /);
  });

  test.each(['http://localhost/mqtt', 'HTTP://localhost:1/mqtt?a=b', 'ws://localhost/mqtt'])(
    'a handshake for %s, in absolute form, is one for its path',
    async (target) => expect(await answerTo(`GET ${target} HTTP/1.1`, HOST)).toMatch(/ 101 /),
  );

  test.each(['Host: localhost:8083', 'Host: [::1]:8083', 'host: APP.example.', 'Host: 10.0.0.1'])(
    'a handshake with "%s" is answered',
    async (host) => expect(await answerTo('GET /mqtt HTTP/1.1', host)).toMatch(/ 101 /),
  );
});
