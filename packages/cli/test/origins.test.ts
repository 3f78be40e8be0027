import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { upgrade } from '../../node/test/support/upgrade.ts';
import type { DoorsOptions } from '../src/index.ts';
import { doorsForTest } from './support/doors.ts';

const EVIL = 'https://evil.example';
const SUBPROTOCOLS = { node: 'mqtt', gateway: 'mqtt-text-v1' } as const;

/** The status of a door's answer to the handshake of a page with this origin. */
async function statusFor(
  door: 'node' | 'gateway',
  origin: string | undefined,
  options: DoorsOptions = {},
): Promise<number> {
  const node = await doorsForTest({ gatewayPort: 0, ...options });
  const url = door === 'node' ? node.url : (node.gateway?.url ?? '');
  const headers = { 'Sec-WebSocket-Protocol': SUBPROTOCOLS[door] };
  return (await upgrade(url, origin === undefined ? headers : { ...headers, Origin: origin })).status;
}

describe.each(['node', 'gateway'] as const)('at the %s door', (door) => {
  test.each([EVIL, 'null', 'http://localhost.evil.example', 'http://evil.example:8083'])(
    '[SEC-ORIGIN-1] a page of %s cannot connect to a broker that asks for no password',
    async (origin) => expect(await statusFor(door, origin)).toBe(403),
  );

  test.each(['http://127.0.0.1:8083', 'http://localhost:5173', undefined])(
    'a page of this machine, or a program, can connect: %s',
    async (origin) => expect(await statusFor(door, origin)).toBe(101),
  );

  test('pages of allowed origins can connect, and others cannot', async () => {
    const options = { allowedOrigins: ['https://app.example'] };
    expect(await statusFor(door, 'https://app.example', options)).toBe(101);
    expect(await statusFor(door, 'http://127.0.0.1:8083', options)).toBe(101);
    expect(await statusFor(door, EVIL, options)).toBe(403);
  });
});

test.each([
  ['https://app.example/path', 'as https://app.example, not'],
  ['HTTPS://App.Example', 'as https://app.example, not'],
  ['https://app.example:443', 'as https://app.example, not'],
  ['https://app.example/', 'as https://app.example, not'],
  ['*', 'with a scheme and no path'],
  ['app.example', 'with a scheme and no path'],
  ['wss://app.example', 'with a scheme and no path'],
  ['capacitor://localhost/x', 'with a scheme and no path'],
])('an origin that no browser sends is refused: %s', async (origin, sentence) => {
  await expect(doorsForTest({ allowedOrigins: [origin] })).rejects.toThrow(sentence);
});

test('the origins of apps and of pages without one are allowed where they are named', async () => {
  for (const origin of ['capacitor://localhost', 'http://localhost:5173', 'null'])
    expect(await statusFor('node', origin, { allowedOrigins: [origin] })).toBe(101);
});

test('a page cannot reach the connections of the gateway door over HTTP: it has no credentials', async () => {
  const node = await doorsForTest({ gatewayPort: 0 });
  const url = `${node.gateway?.emulator.managementEndpoint}/@connections/abc=`;
  for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
    const response = await fetch(url, { method, headers: { Origin: EVIL } });
    expect(response.status).toBe(403);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  }
});

test('[SEC-ORIGIN-2] a page that has pointed its own host name to this machine does not get the counters', async () => {
  const node = await doorsForTest({ counters: true });
  const statusOf = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = request({ port: node.port, path: '/counters', headers: { host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject);
      asked.end();
    });
  expect(await statusOf(`evil.example:${node.port}`)).toBe(404);
  expect(await statusOf(`127.0.0.1:${node.port}`)).toBe(200);
});
