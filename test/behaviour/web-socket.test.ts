import { describe, expect, it } from 'vitest';
import { onlyAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { connectBytes, control, text } from './raw/hex.ts';
import { expectMessage, publish, subscribe, usePeers } from './raw/peers.ts';
import { firstFrame, handshake } from './raw/web-socket.ts';

const peers = usePeers();

const BINARY = onlyAt('node', 'API Gateway carries text only: docs/text-frames.md, tested in packages/aws');

describe('the opening handshake', BINARY, () => {
  it.each([[['mqtt']], [['other', 'mqtt']], [['mqtt', 'other', 'mqttv3.1']]])(
    'that offers %j is answered with `mqtt` [MQTT-6.0.0-4]',
    async (subprotocols) => {
      expect(await handshake(peers.url(), subprotocols)).toEqual({ accepted: true, subprotocol: 'mqtt' });
    },
  );

  it.each([[[]], [['other']], [['MQTT']], [['mqttx', 'mqt']]])(
    'that offers %j, not `mqtt`, is refused [MQTT-6.0.0-3]',
    async (subprotocols) => {
      expect(await handshake(peers.url(), subprotocols)).toEqual({ accepted: false });
    },
  );
});

describe('WebSocket frames', BINARY, () => {
  it('are binary from the server [MQTT-6.0.0-1]', async () => {
    const frame = await firstFrame(peers.url(), connectBytes({ payload: text(unique('binary')) }));
    expect(frame.binary).toBe(true);
    expect(frame.bytes.readUInt8(0)).toBe(0x20);
  });

  it('of text close the connection with 1003, before CONNECT [MQTT-6.0.0-1]', async () => {
    const client = await peers.open();
    client.sendText('CONNECT');
    expect(await client.expectClose()).toBe(1003);
  });

  it('of text close the connection with 1003, after CONNECT, and the will is published [MQTT-6.0.0-1] [MQTT-3.1.2-8]', async () => {
    const topic = unique('text');
    const watcher = await peers.subscriber(topic);
    const { client } = await peers.connect({ will: { topic, payload: 'gone', qos: 0, retain: false } });
    client.sendText('\u{c0}\u{00}');
    expect(await client.expectClose()).toBe(1003);
    await expectMessage(watcher, 'gone');
  });

  it('may hold several packets [MQTT-6.0.0-2]', async () => {
    const client = await peers.open();
    client.sendBytes(`${connectBytes({ payload: text(unique('several')) })} c000 c000`);
    await client.expect('connack');
    await client.expect('pingresp');
    await client.expect('pingresp');
  });

  it('may hold one byte each [MQTT-6.0.0-2]', async () => {
    const topic = unique('bytewise');
    const watcher = await peers.subscriber(topic);
    const client = await peers.open();
    const stream = [
      connectBytes({ payload: text(unique('bytewise')) }),
      control('30', text(topic), '00', '78'),
      'c000',
    ].join('');
    for (const byte of Buffer.from(stream, 'hex')) client.sendBytes(Uint8Array.of(byte));
    await client.expect('connack');
    await client.expect('pingresp');
    await expectMessage(watcher, 'x');
  });

  it('may hold the end of one packet and the beginning of the next [MQTT-6.0.0-2]', async () => {
    const topic = unique('across');
    const watcher = await peers.subscriber(topic);
    const { client } = await peers.connect();
    const bytes = Buffer.from(control('30', text(topic), '00', '78').repeat(3), 'hex');
    const packetLength = bytes.length / 3;
    for (let offset = 0; offset < bytes.length; offset += packetLength - 1) {
      client.sendBytes(bytes.subarray(offset, offset + packetLength - 1));
    }
    for (let count = 0; count < 3; count += 1) await expectMessage(watcher, 'x');
  });

  it('may be empty [MQTT-6.0.0-2]', async () => {
    const { client } = await peers.connect();
    client.sendBytes('');
    client.sendBytes('c0');
    client.sendBytes('');
    client.sendBytes('00');
    await client.expect('pingresp');
  });

  it('carry a packet of 100,000 bytes in both directions [MQTT-6.0.0-2] [MQTT-4.2.0-1]', async () => {
    const topic = unique('large');
    const payload = Buffer.alloc(100_000, 'large ');
    const { client } = await peers.connect();
    await subscribe(client, topic);
    await publish(client, { topic, payload });
    expect((await client.expect('publish')).payload).toEqual(payload);
  });
});
