import { describe, expect, it } from 'vitest';
import {
  decodePacket,
  encodePacket,
  encodePublish,
  FILTERS_PER_PACKET_MAX,
  type PublishPacket,
  type PublishProperties,
  publishLength,
  REMAINING_LENGTH_MAX,
  reasonCodeName,
  STRING_BYTES_MAX,
  toConnackReturnCode,
  withPacketId,
} from '../src/index.ts';
import { variableByteIntegerLength, writeVariableByteInteger } from '../src/variable-byte-integer.ts';
import { takes } from './refuses.ts';

function publishOf(payloadBytes: number, properties: PublishProperties = {}): PublishPacket {
  return {
    type: 'publish',
    topic: 't',
    payload: new Uint8Array(payloadBytes),
    qos: 0,
    retain: false,
    dup: false,
    packetId: 0,
    properties,
  };
}

describe('a Variable Byte Integer', () => {
  it.each([
    [0, [0x00]],
    [127, [0x7f]],
    [128, [0x80, 0x01]],
    [16_383, [0xff, 0x7f]],
    [16_384, [0x80, 0x80, 0x01]],
    [2_097_151, [0xff, 0xff, 0x7f]],
    [2_097_152, [0x80, 0x80, 0x80, 0x01]],
    [268_435_455, [0xff, 0xff, 0xff, 0x7f]],
  ])('[MQTT-1.5.5-1] of %i takes the fewest bytes', (value, expected) => {
    const bytes = new Uint8Array(6);
    expect(variableByteIntegerLength(value)).toBe(expected.length);
    expect(writeVariableByteInteger(bytes, 1, value)).toBe(1 + expected.length);
    expect([...bytes.subarray(1, 1 + expected.length)]).toEqual(expected);
  });

  it('holds no more than 268,435,455', () => {
    expect(() => variableByteIntegerLength(268_435_456)).toThrow(RangeError);
  });
});

describe('the length of a PUBLISH', () => {
  it.each([127, 128, 16_383, 16_384, 2_097_151, 2_097_152])(
    'with %i bytes behind its header',
    (remaining) => {
      const publish = publishOf(remaining - 3);
      const { bytes } = encodePublish(publish, 4);
      expect(publishLength(publish, 4)).toBe(bytes.length);
      expect(takes(bytes, 4)).toMatchObject({ payload: { length: remaining - 3 } });
    },
  );

  it('is at most what a Remaining Length can say', () => {
    expect(publishLength(publishOf(REMAINING_LENGTH_MAX - 3), 4)).toBe(REMAINING_LENGTH_MAX + 5);
    expect(() => publishLength(publishOf(REMAINING_LENGTH_MAX - 2), 4)).toThrow(RangeError);
  });

  it('counts properties in MQTT 5.0 only', () => {
    const publish = publishOf(0, { contentType: 'x' });
    expect(publishLength(publish, 5) - publishLength(publish, 4)).toBe(1 + 4);
  });
});

describe('strings and binary data', () => {
  const longest = 'x'.repeat(STRING_BYTES_MAX);

  it('have at most 65,535 bytes in a PUBLISH', () => {
    const correlationData = new Uint8Array(65_535);
    const publish = publishOf(0, {
      contentType: longest,
      correlationData,
      userProperties: [[longest, longest]],
    });
    expect(takes(encodePublish(publish, 5).bytes)).toMatchObject({ properties: { contentType: longest } });
    expect(() => encodePublish(publishOf(0, { contentType: `${longest}x` }), 5)).toThrow(RangeError);
    expect(() => encodePublish(publishOf(0, { correlationData: new Uint8Array(65_536) }), 5)).toThrow(
      RangeError,
    );
  });

  it('have at most 65,535 bytes in other packets', () => {
    const disconnect = (reasonString: string) =>
      encodePacket({ type: 'disconnect', reasonCode: 0x80, properties: { reasonString } }, 5);
    expect(decodePacket(disconnect(longest), 5)).toMatchObject({ properties: { reasonString: longest } });
    expect(() => disconnect(`${longest}x`)).toThrow(RangeError);
  });
});

describe('packet identifiers', () => {
  it.each([1, 255, 256, 65_535])('%i is written and read', (packetId) => {
    for (const type of ['puback', 'pubrec', 'pubrel', 'pubcomp'] as const) {
      const acknowledgement = { type, packetId, reasonCode: 0, properties: {} };
      expect(takes(encodePacket(acknowledgement, 5))).toEqual(acknowledgement);
    }
    const publish = { ...publishOf(0), qos: 1, packetId } as const;
    const encoded = encodePublish(publish, 5);
    expect(withPacketId(encoded, packetId)).toBe(encoded.bytes);
    expect(withPacketId(encoded, 2)).not.toBe(encoded.bytes);
    expect(takes(encodePacket(publish, 5))).toMatchObject({ packetId });
  });
});

describe('reason codes', () => {
  it('have names', () => {
    expect(reasonCodeName(0x87)).toBe('Not authorized');
    expect(reasonCodeName(0x42)).toBe('Unknown (0x42)');
  });

  it('[MQTT3-3.2.2-6] have no return code in MQTT 3.1.1 where none applies', () => {
    expect(toConnackReturnCode(0x81)).toBeUndefined();
    expect(toConnackReturnCode(0x90)).toBeUndefined();
    expect(toConnackReturnCode(0x87)).toBe(5);
  });
});

describe('a packet of topic filters', () => {
  const filters = (count: number) => Array.from({ length: count }, (_, index) => `a/${index}`);
  const options = { qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
  const subscribe = (count: number) =>
    encodePacket(
      {
        type: 'subscribe',
        packetId: 1,
        properties: {},
        subscriptions: filters(count).map((topicFilter) => ({ topicFilter, ...options })),
      },
      5,
    );
  const unsubscribe = (count: number) =>
    encodePacket({ type: 'unsubscribe', packetId: 1, properties: {}, topicFilters: filters(count) }, 5);

  it.each([
    ['subscribe', subscribe],
    ['unsubscribe', unsubscribe],
  ])('that is %s has 10,000 at most, and one with more is refused with 0x97 [SEC-WORK-8]', (type, encode) => {
    expect(decodePacket(encode(FILTERS_PER_PACKET_MAX), 5)).toMatchObject({ type });
    expect(decodePacket(encode(FILTERS_PER_PACKET_MAX + 1), 5)).toMatchObject({ reasonCode: 0x97 });
  });
});
