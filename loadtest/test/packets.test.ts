import fc from 'fast-check';
import { generate, type IPublishPacket, parser } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { PacketIds } from '../src/generator/in-flight.ts';
import { PacketReader, placesOf } from '../src/generator/packet-reader.ts';
import {
  acknowledgement,
  connectPacket,
  publishTemplate,
  subscribePacket,
} from '../src/generator/packets.ts';
import type { MqttVersion, Qos } from '../src/scenario/scenario.ts';

const versions = fc.constantFrom<MqttVersion>('3.1.1', '5');
const qualities = fc.constantFrom<Qos>(0, 1, 2);
const number = (version: MqttVersion) => (version === '5' ? 5 : 4);

function parsed(bytes: Buffer, version: MqttVersion): Record<string, unknown> {
  const packets: unknown[] = [];
  const reader = parser({ protocolVersion: number(version) });
  reader.on('packet', (packet) => packets.push(packet));
  reader.on('error', (error) => packets.push(error));
  reader.parse(bytes);
  expect(packets).toHaveLength(1);
  return packets[0] as Record<string, unknown>;
}

describe('packets made by hand', () => {
  it('a PUBLISH equals that of mqtt-packet, for any topic, size, QoS and version', () => {
    fc.assert(
      fc.property(
        versions,
        qualities,
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
        fc.integer({ min: 16, max: 20_000 }),
        (version, qos, topic, payloadBytes) => {
          const { bytes, packetIdAt, payloadAt } = publishTemplate(version, topic, qos, payloadBytes);
          if (packetIdAt !== undefined) bytes.writeUInt16BE(0x1234, packetIdAt);
          bytes.fill(0xab, payloadAt);
          const packet: IPublishPacket = {
            cmd: 'publish',
            topic,
            payload: Buffer.alloc(payloadBytes, 0xab),
            qos,
            dup: false,
            retain: false,
            ...(qos > 0 && { messageId: 0x1234 }),
          };
          expect(bytes.equals(generate(packet, { protocolVersion: number(version) }))).toBe(true);
        },
      ),
    );
  });

  it('CONNECT has the fields of the scenario', () => {
    const connect = parsed(
      connectPacket({
        version: '5',
        clientId: 'me',
        cleanStart: false,
        keepAliveSeconds: 300,
        sessionExpirySeconds: 60,
        username: 'ada',
        password: 'secret',
      }),
      '5',
    );
    expect(connect).toMatchObject({
      clientId: 'me',
      clean: false,
      keepalive: 300,
      username: 'ada',
      protocolVersion: 5,
    });
    expect(connect).toMatchObject({
      properties: { sessionExpiryInterval: 60 },
      password: Buffer.from('secret'),
    });
  });

  it.each(['3.1.1', '5'] as const)('SUBSCRIBE of MQTT %s names its filters', (version) => {
    const subscribe = parsed(subscribePacket(version, 7, ['a', 'b/#'], 2), version);
    expect(subscribe).toMatchObject({
      messageId: 7,
      subscriptions: [
        { topic: 'a', qos: 2 },
        { topic: 'b/#', qos: 2 },
      ],
    });
  });

  it.each([
    [4, 'puback'],
    [5, 'pubrec'],
    [6, 'pubrel'],
    [7, 'pubcomp'],
  ])('acknowledgement %i is a %s', (type, cmd) => {
    for (const version of ['3.1.1', '5'] as const)
      expect(parsed(acknowledgement(type, 0xfffe), version)).toMatchObject({ cmd, messageId: 0xfffe });
  });
});

describe('reading packets', () => {
  const publish = fc.record({
    topic: fc.string({ minLength: 1, maxLength: 300 }),
    payload: fc.uint8Array({ maxLength: 300 }),
    qos: qualities,
    identifier: fc.option(fc.integer({ min: 1, max: 268_435_455 }), { nil: undefined }),
  });

  it('finds every PUBLISH and its payload, in any pieces of the bytes', () => {
    fc.assert(
      fc.property(
        versions,
        fc.array(publish, { minLength: 1, maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (version, messages, pieces) => {
          const bytes = Buffer.concat(
            messages.map(({ topic, payload, qos, identifier }, index) => {
              const packet: IPublishPacket = {
                cmd: 'publish',
                topic,
                payload: Buffer.from(payload),
                qos,
                dup: false,
                retain: false,
                ...(qos > 0 && { messageId: index + 1 }),
                ...(version === '5' &&
                  identifier !== undefined && { properties: { subscriptionIdentifier: identifier } }),
              };
              return generate(packet, { protocolVersion: number(version) });
            }),
          );
          const reader = new PacketReader();
          const read: unknown[] = [];
          for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
            const size = pieces[piece % pieces.length] ?? 1;
            for (const packet of reader.push(bytes.subarray(at, at + size))) {
              const { qos, packetId, payloadAt } = placesOf(packet, version === '5');
              read.push({ qos, packetId, payload: packet.bytes.toString('hex', payloadAt) });
            }
            at += size;
          }
          const expected = messages.map(({ payload, qos }, index) => ({
            qos,
            packetId: qos > 0 ? index + 1 : 0,
            payload: Buffer.from(payload).toString('hex'),
          }));
          expect(read).toEqual(expected);
        },
      ),
    );
  });

  it('says so when it is not MQTT', () => {
    expect(() => [...new PacketReader().push(Buffer.from([0x30, 0x80, 0x80, 0x80, 0x80, 1]))]).toThrow(
      /four bytes/,
    );
  });
});

describe('packet ids', () => {
  it('are free, from 1 to 65,535, and at most as many as the window', () => {
    const ids = new PacketIds<string>(3);
    expect([ids.draw('a'), ids.draw('b'), ids.draw('c')]).toEqual([1, 2, 3]);
    expect(ids.hasRoom).toBe(false);
    expect(ids.release(2)).toBe('b');
    expect(ids.release(2)).toBeUndefined();
    expect(ids.hasRoom).toBe(true);
    expect(ids.draw('d')).toBe(4);
    const wrapping = new PacketIds<number>(2);
    wrapping.draw(0);
    for (let count = 0; count < 65_534; count += 1) wrapping.release(wrapping.draw(count));
    // 1 is still in use.
    expect(wrapping.draw(1)).toBe(2);
  });
});
