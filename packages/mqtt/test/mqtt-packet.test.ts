import fc from 'fast-check';
import { generate, type Packet as MqttPacket, parser } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { decodePacket, encodePacket, type ProtocolVersion } from '../src/index.ts';
import { sent } from './arbitraries.ts';
import { takes } from './refuses.ts';

function parseWithMqttPacket(bytes: Uint8Array, version: ProtocolVersion): MqttPacket[] {
  const packets: MqttPacket[] = [];
  const theirs = parser({ protocolVersion: version });
  theirs.on('packet', (packet) => packets.push(packet));
  theirs.on('error', (error) => {
    throw error;
  });
  theirs.parse(Buffer.from(bytes));
  return packets;
}

describe('mqtt-packet, which most clients are built on', () => {
  it('reads every packet we write', () => {
    fc.assert(
      fc.property(sent, ({ version, packet }) => {
        const [theirs] = parseWithMqttPacket(encodePacket(packet, version), version);
        expect(theirs?.cmd).toBe(packet.type);
        if (packet.type === 'publish' && theirs?.cmd === 'publish') {
          expect(theirs).toMatchObject({
            topic: packet.topic,
            qos: packet.qos,
            dup: packet.dup,
            retain: packet.retain,
          });
          expect(theirs.payload).toEqual(packet.payload);
        }
      }),
      { numRuns: runs(1000) },
    );
  });

  it('writes a PUBLISH that we read the same', () => {
    const bytes = generate(
      {
        cmd: 'publish',
        topic: 'a/ä',
        payload: Buffer.from('hi'),
        qos: 1,
        dup: true,
        retain: true,
        messageId: 300,
        properties: {
          payloadFormatIndicator: true,
          messageExpiryInterval: 4321,
          topicAlias: 100,
          responseTopic: 'topic',
          correlationData: Buffer.from([1, 2, 3, 4]),
          userProperties: { one: ['1', '2'], two: '3' },
          contentType: 'test',
        },
      },
      { protocolVersion: 5 },
    );
    expect(takes(bytes)).toEqual({
      type: 'publish',
      topic: 'a/ä',
      payload: Buffer.from('hi'),
      qos: 1,
      dup: true,
      retain: true,
      packetId: 300,
      properties: {
        payloadFormatIndicator: 1,
        messageExpiryInterval: 4321,
        topicAlias: 100,
        responseTopic: 'topic',
        correlationData: Buffer.from([1, 2, 3, 4]),
        userProperties: [
          ['one', '1'],
          ['one', '2'],
          ['two', '3'],
        ],
        contentType: 'test',
      },
    });
  });

  it('writes the packets of a client and a server, and we read them', () => {
    const exchange: [MqttPacket, ProtocolVersion, 'server' | 'client', object][] = [
      [
        { cmd: 'connect', clientId: 'c', clean: true, keepalive: 30, protocolVersion: 4 },
        4,
        'server',
        { type: 'connect', protocolVersion: 4, cleanStart: true, keepAliveSeconds: 30, clientId: 'c' },
      ],
      [
        { cmd: 'connack', returnCode: 0, sessionPresent: true },
        4,
        'client',
        { type: 'connack', sessionPresent: true },
      ],
      [
        {
          cmd: 'subscribe',
          messageId: 7,
          subscriptions: [{ topic: 'a/#', qos: 1, nl: true, rap: true, rh: 2 }],
          properties: { subscriptionIdentifier: 145 },
        },
        5,
        'server',
        {
          type: 'subscribe',
          packetId: 7,
          subscriptions: [
            { topicFilter: 'a/#', qos: 1, noLocal: true, retainAsPublished: true, retainHandling: 2 },
          ],
          properties: { subscriptionIdentifier: 145 },
        },
      ],
      [{ cmd: 'suback', messageId: 7, granted: [1] }, 5, 'client', { type: 'suback', reasonCodes: [1] }],
      [
        { cmd: 'puback', messageId: 7, reasonCode: 0 },
        5,
        'server',
        { type: 'puback', packetId: 7, reasonCode: 0 },
      ],
      [
        { cmd: 'unsubscribe', messageId: 8, unsubscriptions: ['a/#', 'b'] },
        4,
        'server',
        { type: 'unsubscribe', packetId: 8, topicFilters: ['a/#', 'b'] },
      ],
      [
        { cmd: 'unsuback', messageId: 8, granted: [0, 17] },
        5,
        'client',
        { type: 'unsuback', reasonCodes: [0, 17] },
      ],
      [{ cmd: 'pingreq' }, 4, 'server', { type: 'pingreq' }],
      [{ cmd: 'disconnect', reasonCode: 4 }, 5, 'server', { type: 'disconnect', reasonCode: 4 }],
    ];
    for (const [packet, version, receiver, expected] of exchange) {
      expect(decodePacket(generate(packet, { protocolVersion: version }), version, receiver)).toMatchObject(
        expected,
      );
    }
  });
});
