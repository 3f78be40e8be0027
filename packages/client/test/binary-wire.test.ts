import { beforeEach, describe, expect, test } from 'vitest';
import { disconnect, Harness, type Packet, publish } from './support/harness.ts';

const CONNACK: Packet = { cmd: 'connack', returnCode: 0, sessionPresent: false };

/** A message of a socket whose binary type is 'arraybuffer'. */
function messageOf(harness: Harness, ...packets: readonly Packet[]): ArrayBuffer {
  return new Uint8Array(harness.bytes(packets)).buffer;
}

describe('a server that chooses the subprotocol mqtt', () => {
  let harness: Harness;

  beforeEach(async () => {
    harness = new Harness();
    await harness.open({ keepalive: 60 }, 4, 'mqtt');
  });

  const sent = () => harness.gateway.binaries.map((bytes) => Buffer.from(bytes).toString('hex'));

  test('gets CONNECT as the library has written it', () => {
    expect(harness.gateway.binaryType).toBe('arraybuffer');
    expect(harness.gateway.texts).toEqual([]);
    expect(sent()).toEqual(['100d00044d5154540402003c000163']);
  });

  test('gets the pieces of a turn in one message, and no large one joined with others', async () => {
    harness.gateway.binaries.length = 0;
    const packet = harness.bytes([publish('a', 0, 1, 'x')]);
    for (const byte of packet) harness.socket.send(Uint8Array.of(byte));
    await harness.clock.runDue();
    expect(sent()).toEqual([packet.toString('hex')]);
    const large = publish('a', 0, 1, Buffer.alloc(100_000));
    harness.socket.send(packet);
    harness.socket.send(harness.bytes([large]));
    harness.socket.send(packet);
    await harness.clock.runDue();
    const sizes = harness.gateway.binaries.slice(1).map(({ length }) => length);
    expect(sizes).toEqual([packet.length, harness.bytes([large]).length, packet.length]);
  });

  test("is heard packet for packet, its CONNACK is told, and its PINGRESP is the library's own", async () => {
    await harness.say(messageOf(harness, CONNACK, publish('a')));
    expect(harness.topics).toEqual(['connack', 'a']);
    expect(harness.events).toEqual([{ type: 'connected' }]);
    await harness.write({ cmd: 'pingreq' });
    expect(sent().at(-1)).toBe('c000');
    expect(harness.topics).toEqual(['connack', 'a']);
    await harness.say(messageOf(harness, { cmd: 'pingresp' }));
    expect(harness.topics.at(-1)).toBe('pingresp');
  });

  test('gets DISCONNECT before the close', async () => {
    await harness.say(messageOf(harness, CONNACK));
    harness.socket.send(harness.bytes([disconnect]));
    harness.socket.close();
    expect(sent().at(-1)).toBe('e000');
    expect(harness.gateway.closedWith?.code).toBe(1000);
  });

  test('is offered no CONNECT in the next handshake', async () => {
    await harness.say(messageOf(harness, CONNACK));
    harness.gateway.end(1006);
    await harness.clock.runDue();
    expect(harness.closes).toEqual([{ code: 1006, reason: '' }]);
    expect(harness.events.at(-1)).toMatchObject({ type: 'closed', packetsUnsent: 0 });
    await harness.dial();
    expect(harness.gateway.protocols).toEqual(['mqtt-text-v1.1', 'mqtt-text-v1', 'mqtt']);
  });

  test('that refuses for now is asked again', async () => {
    const refused: Packet = { cmd: 'connack', returnCode: 3, sessionPresent: false };
    await harness.say(messageOf(harness, refused));
    expect(harness.options).toMatchObject({ reconnectOnConnackError: true });
    expect(harness.events).toEqual([]);
  });

  test('tells of CONNACK when it is whole, in whatever messages it comes', async () => {
    const refused = harness.bytes([{ cmd: 'connack', returnCode: 3, sessionPresent: false }]);
    for (const byte of refused.subarray(0, -1)) await harness.say(Uint8Array.of(byte).buffer);
    expect(harness.options).not.toMatchObject({ reconnectOnConnackError: true });
    await harness.say(new Uint8Array(refused.subarray(-1)).buffer);
    expect(harness.options).toMatchObject({ reconnectOnConnackError: true });
    expect(harness.events).toEqual([]);
  });

  test('tells of an accepted CONNACK once, behind its last byte', async () => {
    const accepted = harness.bytes([CONNACK]);
    await harness.say(new Uint8Array(accepted.subarray(0, 2)).buffer);
    expect(harness.events).toEqual([]);
    await harness.say(new Uint8Array(accepted.subarray(2)).buffer);
    expect(harness.events).toEqual([{ type: 'connected' }]);
    expect(harness.topics).toEqual(['connack']);
  });

  test('is not connected by a CONNACK without a return code', async () => {
    await harness.say(Uint8Array.of(0x20, 1, 0).buffer);
    expect(harness.events).not.toContainEqual({ type: 'connected' });
  });

  test('lets the library wait while the socket has much to send', async () => {
    await harness.say(messageOf(harness, CONNACK));
    harness.gateway.bufferedAmount = 100_000;
    let isWritten = false;
    harness.socket.send(harness.bytes([publish('a')]), () => {
      isWritten = true;
    });
    await harness.clock.advance(24);
    expect(isWritten).toBe(false);
    harness.gateway.bufferedAmount = 0;
    await harness.clock.advance(1);
    expect(isWritten).toBe(true);
  });

  test('that sends text is not understood', async () => {
    await harness.say('hello');
    expect(harness.errors).toEqual(['unreadable-frame']);
  });
});
