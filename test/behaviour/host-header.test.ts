import { once } from 'node:events';
import { connect as connectTo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OPTIONS_NEED_OUR_DOOR, openDoor, runningBrokerUrl } from '../support/start-door.ts';
import { handshake } from './raw/handshake.ts';

const HANDSHAKE = handshake();
const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);

async function startedDoor() {
  const door = await openDoor();
  onTestFinished(() => door.stop());
  return door;
}

ownDoor(`a handshake (${OPTIONS_NEED_OUR_DOOR})`, () => {
  /** The status line of the answer to a request. */
  async function statusOf(url: string, request: string): Promise<string> {
    const socket = connectTo({ port: Number(new URL(url).port), host: '127.0.0.1' });
    onTestFinished(() => void socket.destroy());
    socket.write(request);
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    return String(bytes).split('\r\n', 1)[0] ?? '';
  }

  it('of several pieces with two Host headers is answered 400 [SEC-HTTP-1]', async () => {
    const { url } = await startedDoor();
    const socket = connectTo({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    for (const piece of `${HANDSHAKE}Host: b\r\n\r\n`.match(/.{1,60}/gs) ?? [])
      await new Promise((resolve) => socket.write(piece, resolve));
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    expect(String(bytes)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('or a request to the API of connections with two Host headers is answered 400 [SEC-HTTP-1]', async () => {
    const { url } = await startedDoor();
    const request = 'GET /mqtt/@connections/x HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n';
    expect(await statusOf(url, request)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    ['two', 'Host: localhost\r\n'],
    ['two of different names', 'Host: app.example\r\n'],
    ['two in other cases', 'hOST: localhost\r\n'],
    ['two with one empty', 'Host:\r\n'],
    ['two with a folded one', 'Host: localhost\r\n b\r\n'],
  ])('with %s Host headers is answered 400 [SEC-HTTP-1]', async (_, host) => {
    const { url } = await startedDoor();
    expect(await statusOf(url, `${HANDSHAKE}\r\n`)).toMatch(/^HTTP\/1\.1 101 /);
    expect(await statusOf(url, `${HANDSHAKE}${host}\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await statusOf(url, `${HANDSHAKE.replace('\r\n', `\r\n${host}`)}\r\n`)).toMatch(
      /^HTTP\/1\.1 400 /,
    );
  });

  it.each(['/api/v5/stats', '/healthz', '/mqtt'])(
    'or a request for %s with two Host headers is answered 400 [SEC-HTTP-1]',
    async (path) => {
      const { httpUrl = '' } = await startedDoor();
      const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n`;
      expect(await statusOf(httpUrl, request)).toMatch(/^HTTP\/1\.1 400 /);
    },
  );
});
