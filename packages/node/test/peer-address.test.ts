import { hashPassword, parseUsers, UsersAuthenticator } from '@apus/identity';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { PeerAddresses } from '../src/peer-address.ts';
import { StartError } from '../src/start-error.ts';
import { nodeForTest } from './support/nodes.ts';

/** The address that the broker is told of a connection from there, with this `X-Forwarded-For`. */
function addressOf(proxies: readonly string[], remoteAddress: string, forwardedFor?: string): string {
  const socket = { remoteAddress, remotePort: 5000 };
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  return new PeerAddresses(proxies).of({ socket, headers } as never).address;
}

describe('where a client connects from [SEC-GUESS-5]', () => {
  test.each<[string, string, string[], string, string | undefined]>([
    ['its socket', '192.0.2.1:5000', [], '192.0.2.1', undefined],
    ['its socket, in brackets', '[2001:db8::1]:5000', [], '2001:db8::1', undefined],
    [
      'its socket, as a stranger may write any header',
      '192.0.2.1:5000',
      ['10.0.0.1'],
      '192.0.2.1',
      '1.1.1.1',
    ],
    ['what a known proxy says', '192.0.2.9', ['10.0.0.1'], '10.0.0.1', '192.0.2.9'],
    ['what a proxy of a known network says', '2001:db8::9', ['10.0.0.0/8'], '10.1.2.3', '2001:db8::9'],
    ['what a proxy says over IPv6', '192.0.2.9', ['127.0.0.1'], '::ffff:127.0.0.1', '192.0.2.9'],
    ['the last that no proxy is', '192.0.2.9', ['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, 192.0.2.9, 10.0.0.2'],
    ['the socket of a proxy that says nothing', '10.0.0.1:5000', ['10.0.0.1'], '10.0.0.1', undefined],
    ['the socket of a proxy that says no address', '10.0.0.1:5000', ['10.0.0.1'], '10.0.0.1', 'unknown'],
  ])('is %s: %s', (_what, expected, proxies, remoteAddress, forwardedFor) => {
    expect(addressOf(proxies, remoteAddress, forwardedFor)).toBe(expected);
  });

  test('is what bans name, also behind a proxy', () => {
    const socket = { remoteAddress: '::ffff:10.0.0.1', remotePort: 5000 };
    const headers = { 'x-forwarded-for': '2001:0db8::9' };
    const of = (proxies: string[]) => new PeerAddresses(proxies).of({ socket, headers } as never).host;
    expect([of([]), of(['10.0.0.1'])]).toEqual(['10.0.0.1', '2001:db8::9']);
  });

  test.each(['proxy.example', '10.0.0.1/33', '10.0.0.0/', '10.0.0.0/8/8', '::1/129', ''])(
    '"%s" is no proxy, and the node says so before it starts',
    async (proxy) => {
      await expect(nodeForTest({ trustedProxies: [proxy] })).rejects.toThrow(StartError);
    },
  );
});

test('guesses through a proxy keep no other client of it waiting', async () => {
  const password = await hashPassword(Buffer.from('right'));
  const users = parseUsers(
    JSON.stringify({ users: [{ name: 'ada', password, publish: [], subscribe: [] }] }),
    'users.json',
  );
  const node = await nodeForTest({
    trustedProxies: ['127.0.0.1'],
    authenticator: new UsersAuthenticator({ users, tenant: 'default', clock: { now: () => 0 } }),
  });
  const answer = (forwardedFor: string, secret: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'X-Forwarded-For': forwardedFor };
      const socket = new WebSocket(node.url, ['mqtt'], { headers });
      socket.on('error', reject);
      socket.on('message', (bytes: Buffer) => {
        resolve(bytes[3] ?? -1);
        socket.terminate();
      });
      socket.on('open', () => socket.send(connectPacket('ada', secret)));
    });
  for (let guess = 0; guess < 5; guess++) expect(await answer('192.0.2.1', `wrong ${guess}`)).toBe(0x86);
  expect(await answer('192.0.2.1', 'right')).toBe(0x9f);
  expect(await answer('192.0.2.2', 'right')).toBe(0);
});

/** CONNECT of MQTT 5 with Clean Start, a user name and a password. */
function connectPacket(username: string, password: string): Buffer {
  const fields = ['', username, password].map((text) => {
    const bytes = Buffer.from(text);
    return Buffer.concat([Buffer.from([0, bytes.length]), bytes]);
  });
  const header = Buffer.from([0, 4, ...Buffer.from('MQTT'), 5, 0b1100_0010, 0, 0, 0]);
  const body = Buffer.concat([header, ...fields]);
  return Buffer.concat([Buffer.from([0x10, body.length]), body]);
}
