import { describe, expect, it } from 'vitest';
import { connectClient, unique } from '../support/client.ts';
import { closeCodeOf, openSocket } from '../support/socket.ts';
import { tokenFor } from '../support/token.ts';

const TEXT = ['mqtt-text-v1'];

describe('a handshake', () => {
  it('without a token is refused with 401', async () => {
    expect(await openSocket(undefined, TEXT)).toEqual({ status: 401 });
  });

  it.each([
    [
      'somebody else signed',
      async () => `${(await tokenFor('x')).split('.').slice(0, 2).join('.')}.${'A'.repeat(43)}`,
    ],
    ['has expired', () => tokenFor('x', { expiresInSeconds: -60 })],
    ['is none', async () => 'abc'],
  ])('with a token that %s is refused with 403', async (_, token) => {
    expect(await openSocket(await token(), TEXT)).toEqual({ status: 403 });
  });

  it('of a client that speaks binary frames is refused with 400', async () => {
    expect(await openSocket(await tokenFor('x'), ['mqtt'])).toEqual({ status: 400 });
  });

  it('with all of it gets the subprotocol back', async () => {
    const handshake = await openSocket(await tokenFor('x'), TEXT);
    if (!('socket' in handshake)) throw new Error(`refused with ${handshake.status}`);
    expect(handshake.socket.protocol).toBe('mqtt-text-v1');
    handshake.socket.send(Buffer.of(0x10, 0));
    expect(await closeCodeOf(handshake.socket)).toBe(1003);
  });
});

describe('a token bounds what its client may do', () => {
  it('publish', async () => {
    const mine = unique('mine');
    const client = await connectClient({
      token: await tokenFor('ada', { publish: [`${mine}/#`], subscribe: [] }),
    });
    await client.mqtt.publishAsync(`${mine}/a`, 'x', { qos: 1 });
    await expect(client.mqtt.publishAsync('theirs', 'x', { qos: 1 })).rejects.toMatchObject({ code: 0x87 });
  });

  it('and subscribe', async () => {
    const mine = unique('mine');
    const client = await connectClient({ token: await tokenFor('ada', { subscribe: [`${mine}/#`] }) });
    await client.mqtt.subscribeAsync(`${mine}/a`, { qos: 1 });
    await expect(client.mqtt.subscribeAsync('#', { qos: 1 })).rejects.toThrow(
      /Not authorized|Unspecified|0x87|135/i,
    );
  });
});
