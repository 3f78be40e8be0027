import { describe, expect, it } from 'vitest';
import { buffer, packet, text } from './bytes.ts';
import { refuses, takes } from './refuses.ts';

const MALFORMED = 0x81;
const PROTOCOL_ERROR = 0x82;

describe('the first byte', () => {
  it('of type 0 is refused', () => {
    refuses(MALFORMED, packet(0x00, []));
  });

  it.each([
    ['CONNECT', 0x11],
    ['PUBACK', 0x41],
    ['PUBREC', 0x54],
    ['PUBREL', 0x60],
    ['PUBCOMP', 0x78],
    ['SUBSCRIBE', 0x80],
    ['UNSUBSCRIBE', 0xa0],
    ['PINGREQ', 0xc1],
    ['DISCONNECT', 0xe8],
    ['AUTH', 0xf2],
  ])('[MQTT-2.1.3-1] of %s has its reserved flags', (_, firstByte) => {
    refuses(MALFORMED, packet(firstByte, []));
  });

  it('[MQTT-3.6.1-1] of PUBREL has the flags 0010', () => {
    for (let flags = 0; flags < 16; flags += 1) {
      const pubrel = packet(0x60 | flags, [0, 1]);
      if (flags === 0b0010) takes(pubrel);
      else refuses(MALFORMED, pubrel);
    }
  });

  it('[MQTT-3.8.1-1] [MQTT-3.10.1-1] of SUBSCRIBE and UNSUBSCRIBE has the flags 0010', () => {
    for (let flags = 0; flags < 16; flags += 1) {
      const subscribe = packet(0x80 | flags, [0, 1, 0, text('a'), 0]);
      const unsubscribe = packet(0xa0 | flags, [0, 1, 0, text('a')]);
      for (const bytes of [subscribe, unsubscribe]) {
        if (flags === 0b0010) takes(bytes);
        else refuses(MALFORMED, bytes);
      }
    }
  });

  it('[MQTT-3.14.1-1] [MQTT3-3.14.1-1] of DISCONNECT has no flags', () => {
    for (let flags = 1; flags < 16; flags += 1) {
      refuses(MALFORMED, packet(0xe0 | flags, []), 5);
      refuses(MALFORMED, packet(0xe0 | flags, []), 4);
    }
  });

  it('[MQTT-3.15.1-1] of AUTH has no flags', () => {
    for (let flags = 1; flags < 16; flags += 1) refuses(MALFORMED, packet(0xf0 | flags, [0x19, 0]));
  });

  it('[MQTT-3.3.1-4] [MQTT3-3.3.1-4] of PUBLISH never says QoS 3', () => {
    for (const version of [3, 4, 5] as const) refuses(MALFORMED, packet(0x36, [text('a'), 0, 1, 0]), version);
  });

  it('[MQTT-3.3.1-2] of PUBLISH never says DUP at QoS 0', () => {
    refuses(MALFORMED, packet(0x38, [text('a'), 0]));
  });

  it('may say DUP for PUBREL, SUBSCRIBE and UNSUBSCRIBE in MQTT 3.1 only', () => {
    const pubrel = packet(0x6a, [0, 1]);
    const subscribe = packet(0x8a, [0, 1, text('a'), 0]);
    const unsubscribe = packet(0xaa, [0, 1, text('a')]);
    for (const bytes of [pubrel, subscribe, unsubscribe]) {
      const before = Buffer.from(bytes);
      expect(takes(bytes, 3)).toMatchObject({ packetId: 1 });
      expect(bytes).toEqual(before);
      refuses(MALFORMED, bytes, 4);
      refuses(MALFORMED, bytes, 5);
    }
  });

  it.each([
    ['CONNACK', packet(0x20, [0, 0, 0])],
    ['SUBACK', packet(0x90, [0, 1, 0, 0])],
    ['UNSUBACK', packet(0xb0, [0, 1, 0, 0])],
    ['PINGRESP', packet(0xd0, [])],
  ])('of a %s is refused by a server', (_, bytes) => {
    takes(bytes, 5, 'client');
    refuses(PROTOCOL_ERROR, bytes, 5, 'server');
  });

  it.each([
    ['SUBSCRIBE', packet(0x82, [0, 1, 0, text('a'), 0])],
    ['UNSUBSCRIBE', packet(0xa2, [0, 1, 0, text('a')])],
    ['PINGREQ', packet(0xc0, [])],
  ])('of a %s is refused by a client', (_, bytes) => {
    takes(bytes, 5, 'server');
    refuses(PROTOCOL_ERROR, bytes, 5, 'client');
  });
});

describe('the Remaining Length', () => {
  it('takes at most four bytes', () => {
    refuses(MALFORMED, buffer([0x30, 0xff, 0xff, 0xff, 0x80, 0x01]));
  });

  it('is the length of the rest, neither more nor less', () => {
    refuses(MALFORMED, buffer([0xc0, 1]));
    refuses(MALFORMED, buffer([0xc0, 0, 0]));
    refuses(MALFORMED, buffer([]));
    refuses(MALFORMED, buffer([0xc0]));
  });

  it('[MQTT-1.5.5-1] takes the fewest bytes that hold it in MQTT 5.0', () => {
    refuses(MALFORMED, buffer([0xc0, 0x80, 0x80, 0x00]));
    refuses(MALFORMED, buffer([0x82, 0x86, 0x00, 0, 1, text('a'), 0]));
  });

  it('may be encoded in more bytes than it needs before MQTT 5.0: some clients reserve them', () => {
    expect(takes(buffer([0xc0, 0x80, 0x80, 0x00]), 4)).toEqual({ type: 'pingreq' });
    expect(takes(buffer([0x82, 0x86, 0x00, 0, 1, text('a'), 0]), 4)).toMatchObject({ type: 'subscribe' });
  });

  it('counts every byte: nothing follows the last field', () => {
    refuses(MALFORMED, packet(0xc0, [0]));
    refuses(MALFORMED, packet(0x40, [0, 1, 0]), 4);
    refuses(MALFORMED, packet(0x40, [0, 1, 0, 0, 0]), 5);
    refuses(MALFORMED, packet(0xe0, [0]), 4);
    refuses(MALFORMED, packet(0xe0, [0, 0, 0]), 5);
    refuses(MALFORMED, packet(0x20, [0, 0, 0]), 4, 'client');
  });
});
