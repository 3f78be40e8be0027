import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { PeerAddresses } from '../src/peer-address.ts';
import { Places } from '../src/places.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

class FakeSocket extends Duplex {
  remotePort = 5000;
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }
}

/** Places, and the sockets of each address that are open. */
function stage(limits: { connectionsMax: number; pendingPerAddressMax?: number }, proxies: string[] = []) {
  const places = new Places({
    limits: { pendingPerAddressMax: 0, ...limits },
    ...{ httpConnectionsMax: 2, addresses: new PeerAddresses(proxies), log: SILENT },
  });
  let port = 1000;
  const arrive = (address: string): FakeSocket => {
    const socket = new FakeSocket(address);
    socket.remotePort = port++;
    places.arrive(socket as unknown as Socket);
    return socket;
  };
  const open = (sockets: readonly FakeSocket[]) =>
    sockets.map(({ destroyed }) => (destroyed ? '-' : 'x')).join('');
  return { places, arrive, open };
}

describe('sockets whose CONNECT has not been accepted [SEC-PLACE-1]', () => {
  test('are half of all for one address: beyond it its own oldest is cut', () => {
    const { arrive, open } = stage({ connectionsMax: 8 });
    const other = arrive('192.0.2.2');
    expect(open(Array.from({ length: 8 }, () => arrive('192.0.2.1')))).toBe('---xxxxx');
    expect(other.destroyed).toBe(false);
  });

  test('are as many of one address as the limit says, before and after the handshake together', () => {
    const { places, arrive, open } = stage({ connectionsMax: 8, pendingPerAddressMax: 3 });
    const all = Array.from({ length: 3 }, () => arrive('192.0.2.1'));
    for (const [index, socket] of all.slice(0, 2).entries())
      expect(places.takeHandshake(socket, `192.0.2.1:${index}`, index)).toBe(true);
    expect(open([...all, arrive('192.0.2.1')])).toBe('-xxx');
  });

  test('are not those that carry the response of a link, as long as it lasts', () => {
    const { places, arrive, open } = stage({ connectionsMax: 8, pendingPerAddressMax: 2 });
    const [socket, response] = [arrive('192.0.2.1'), new FakeSocket('')];
    places.lend(socket as unknown as Socket, response);
    const others = Array.from({ length: 3 }, () => arrive('192.0.2.1'));
    expect(open([socket, ...others])).toBe('x-xx');
    response.emit('close');
    expect(open([socket, ...others, arrive('192.0.2.1')])).toBe('x---x');
  });

  test('count for the /64 of an IPv6 address', () => {
    const { arrive, open } = stage({ connectionsMax: 8, pendingPerAddressMax: 2 });
    const all = ['2001:db8::1', '2001:db8::2:0:0:3', '2001:db8:0:1::1', '2001:db8::ffff'].map(arrive);
    expect(open(all)).toBe('-xxx');
  });

  test('give way to any other address where all places are taken, first those of the address with most', () => {
    const { arrive, open } = stage({ connectionsMax: 6 });
    const most = Array.from({ length: 4 }, () => arrive('192.0.2.1'));
    const some = Array.from({ length: 3 }, () => arrive('192.0.2.2'));
    const few = [arrive('192.0.2.3')];
    const strangers = Array.from({ length: 3 }, (_, index) => arrive(`198.51.100.${index}`));
    expect(open(most) + open(some) + open(few) + open(strangers)).toBe('--xx-xxxxxx');
  });

  test('have no say any more once CONNECT was accepted: those stay, and a newcomer is cut', () => {
    const { places, arrive, open } = stage({ connectionsMax: 2 });
    const all = Array.from({ length: 4 }, () => {
      const socket = arrive('192.0.2.1');
      places.establish(socket);
      return socket;
    });
    expect(arrive('192.0.2.2').destroyed).toBe(true);
    expect(open(all)).toBe('xxxx');
  });

  test('give the place of a WebSocket to the handshake of another; established ones do not', async () => {
    const { places, arrive, open } = stage({ connectionsMax: 2 });
    const [first, second] = [arrive('192.0.2.1'), arrive('192.0.2.1')];
    expect(places.takeHandshake(first, '192.0.2.1:1', 0)).toBe(true);
    expect(places.takeHandshake(second, '192.0.2.1:2', 1)).toBe(true);
    const third = arrive('192.0.2.2');
    expect(places.isFull(2)).toBe(false);
    expect(places.takeHandshake(third, '192.0.2.2:1', 2)).toBe(true);
    expect(open([first, second, third])).toBe('-xx');
    for (const socket of [second, third]) places.establish(socket);
    expect(places.isFull(2)).toBe(true);
    expect(places.takeHandshake(arrive('192.0.2.3'), '192.0.2.3:1', 2)).toBe(false);
  });

  test('of a trusted proxy count for themselves until the client is known, and then for the client', () => {
    const { places, arrive, open } = stage({ connectionsMax: 20, pendingPerAddressMax: 2 }, ['10.0.0.0/8']);
    const all = Array.from({ length: 5 }, () => arrive('10.0.0.1'));
    expect(open(all)).toBe('xxxxx');
    for (const [index, socket] of all.slice(0, 3).entries()) places.takeHandshake(socket, '192.0.2.1', index);
    expect(open(all)).toBe('-xxxx');
  });

  test('free their places when they go', async () => {
    const { arrive, open } = stage({ connectionsMax: 8, pendingPerAddressMax: 2 });
    const gone = arrive('192.0.2.1');
    gone.destroy();
    await new Promise((resolve) => gone.once('close', resolve));
    expect(open([arrive('192.0.2.1'), arrive('192.0.2.1')])).toBe('xx');
  });
});
