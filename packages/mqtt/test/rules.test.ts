import { describe, expect, it } from 'vitest';
import { encodePacket, type ProtocolVersion } from '../src/index.ts';
import { type Bytes, binary, NO_PROPERTIES, packet, section, text } from './bytes.ts';
import { refuses, takes } from './refuses.ts';

const MALFORMED = 0x81;
const PROTOCOL_ERROR = 0x82;

function publish(topic: string, properties: Bytes = [], payload: Bytes = []): Buffer {
  return packet(0x30, [text(topic), section(properties), payload]);
}

function subscribe(options: number, version: ProtocolVersion = 5): Buffer {
  return packet(0x82, [0, 1, version === 5 ? NO_PROPERTIES : [], text('a'), options]);
}

describe('strings', () => {
  const topicOf = (bytes: readonly number[]) => packet(0x30, [binary(bytes), 0]);

  it.each([
    ['an unpaired surrogate', [0xed, 0xa0, 0x80]],
    ['a pair of surrogates', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a lone continuation byte', [0x61, 0x80]],
    ['a sequence cut short', [0xf0, 0x9f, 0xa6]],
    ['a code point beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
  ])('[MQTT-1.5.4-1] are well-formed UTF-8: not %s', (_, bytes) => {
    refuses(MALFORMED, topicOf(bytes));
    refuses(MALFORMED, topicOf(bytes), 4);
  });

  it('[MQTT-1.5.4-2] have no U+0000, neither among ASCII nor behind other characters', () => {
    refuses(MALFORMED, topicOf([0x61, 0x00]));
    refuses(MALFORMED, topicOf([0x00]));
    refuses(MALFORMED, topicOf([0xc3, 0xa4, 0x00]));
  });

  it('[MQTT-1.5.4-3] keep U+FEFF wherever it stands', () => {
    expect(takes(topicOf([0xef, 0xbb, 0xbf, 0x61]))).toMatchObject({ topic: '\ufeffa' });
    expect(takes(topicOf([0x61, 0xef, 0xbb, 0xbf]))).toMatchObject({ topic: 'a\ufeff' });
    const connect = packet(0x10, [text('MQTT'), 4, 2, 0, 0, text('\ufeffc')]);
    expect(takes(connect)).toMatchObject({ clientId: '\ufeffc' });
  });

  it('may take 65,535 bytes', () => {
    const topic = 'ä'.repeat(32_767);
    expect(takes(publish(topic))).toMatchObject({ topic });
  });
});

describe('properties', () => {
  it('[MQTT-1.5.5-1] have a length in the fewest bytes', () => {
    refuses(MALFORMED, packet(0x30, [text('t'), 0x80, 0x00]));
    refuses(MALFORMED, packet(0x82, [0, 1, [3, 0x0b, 0x81, 0x00], text('a'), 0]));
    refuses(MALFORMED, packet(0x30, [text('t'), 0x80, 0x80, 0x80, 0x80, 0x01]));
  });

  it('are in range', () => {
    refuses(PROTOCOL_ERROR, publish('t', [0x01, 2])); // payload format indicator
    refuses(PROTOCOL_ERROR, packet(0x82, [0, 1, section([0x0b, 0]), text('a'), 0])); // subscription identifier
    for (const identifier of [0x24, 0x25, 0x28, 0x29, 0x2a]) {
      refuses(PROTOCOL_ERROR, packet(0x20, [0, 0, section([identifier, 2])]), 5, 'client');
    }
  });

  it('[MQTT-3.3.2-18] keep the order of user properties', () => {
    const pairs = [
      ['2', 'a'],
      ['1', 'b'],
      ['2', 'c'],
    ] as const;
    const bytes = pairs.map(([name, value]): Bytes => [0x26, text(name), text(value)]);
    expect(takes(publish('t', bytes))).toMatchObject({ properties: { userProperties: pairs } });
  });
});

describe('packet identifiers', () => {
  it('[MQTT-2.2.1-3] are never 0', () => {
    for (const [version, reasonCode] of [
      [5, PROTOCOL_ERROR],
      [4, MALFORMED],
    ] as const) {
      const none = version === 5 ? NO_PROPERTIES : [];
      refuses(reasonCode, packet(0x32, [text('t'), 0, 0, none]), version);
      refuses(reasonCode, packet(0x82, [0, 0, none, text('a'), 0]), version);
      refuses(reasonCode, packet(0xa2, [0, 0, none, text('a')]), version);
      for (const firstByte of [0x40, 0x50, 0x62, 0x70])
        refuses(reasonCode, packet(firstByte, [0, 0]), version);
    }
  });

  it('[MQTT-2.2.1-2] are not in a PUBLISH of QoS 0', () => {
    const bytes = encodePacket(
      {
        type: 'publish',
        topic: 't',
        payload: Buffer.from('p'),
        qos: 0,
        retain: false,
        dup: false,
        packetId: 7,
        properties: {},
      },
      4,
    );
    expect([...bytes]).toEqual([0x30, 4, 0, 1, 0x74, 0x70]);
    expect(takes(bytes, 4)).toMatchObject({ packetId: 0, payload: Buffer.from('p') });
  });
});

describe('PUBLISH', () => {
  it('[MQTT-3.3.4-6] has no subscription identifier from a client', () => {
    const bytes = publish('t', [0x0b, 1]);
    refuses(PROTOCOL_ERROR, bytes);
    takes(bytes, 5, 'client');
  });

  it('has no subscription identifier 0 from a server', () => {
    refuses(PROTOCOL_ERROR, publish('t', [0x0b, 1, 0x0b, 0]), 5, 'client');
  });
});

describe('SUBSCRIBE and UNSUBSCRIBE', () => {
  it('[MQTT3-3.8.3-4] have nothing but the QoS, and no QoS 3, in the options of MQTT 3.1.1', () => {
    for (let options = 0; options < 256; options += 1) {
      if (options <= 2) takes(subscribe(options, 4), 4);
      else refuses(MALFORMED, subscribe(options, 4), 4);
    }
  });
});

describe('reason codes', () => {
  it('[MQTT-3.4.2-1] [MQTT-3.5.2-1] of PUBACK and PUBREC are theirs', () => {
    const allowed = [0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99];
    for (const firstByte of [0x40, 0x50]) expectReasonCodes(firstByte, [0, 1], allowed);
  });

  it('[MQTT-3.6.2-1] [MQTT-3.7.2-1] of PUBREL and PUBCOMP are theirs', () => {
    for (const firstByte of [0x62, 0x70]) expectReasonCodes(firstByte, [0, 1], [0x00, 0x92]);
  });

  it('[MQTT-3.14.2-1] of DISCONNECT from a client are theirs', () => {
    const both = [0x80, 0x81, 0x82, 0x83, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99];
    expectReasonCodes(0xe0, [], [0x00, 0x04, ...both]);
  });

  it('[MQTT-3.15.2-1] of AUTH are Continue and Re-authenticate from a client, Success and Continue from a server', () => {
    const auth = (reasonCode: number) => packet(0xf0, [reasonCode, section([0x15, text('m')])]);
    for (const reasonCode of [0x18, 0x19]) takes(auth(reasonCode));
    for (const reasonCode of [0x00, 0x18]) takes(auth(reasonCode), 5, 'client');
    for (const reasonCode of [0x00, 0x01, 0x80, 0xff]) refuses(PROTOCOL_ERROR, auth(reasonCode));
    refuses(PROTOCOL_ERROR, packet(0xf0, []));
    refuses(PROTOCOL_ERROR, auth(0x19), 5, 'client');
  });

  it('[MQTT-3.2.2-8] of CONNACK, [MQTT-3.9.3-2] of SUBACK and [MQTT-3.11.3-2] of UNSUBACK are theirs', () => {
    for (const bytes of [
      packet(0x20, [0, 0x91, 0]),
      packet(0x90, [0, 1, 0, 0x03]),
      packet(0xb0, [0, 1, 0, 0x01]),
    ]) {
      refuses(MALFORMED, bytes, 5, 'client');
    }
  });

  it('[MQTT3-3.9.3-2] of SUBACK in MQTT 3.1.1 are the granted QoS and 0x80', () => {
    refuses(MALFORMED, packet(0x90, [0, 1, 0x87]), 4, 'client');
    const suback = {
      type: 'suback',
      packetId: 1,
      reasonCodes: [0, 1, 2, 0x80, 0x87, 0x9e],
      properties: {},
    } as const;
    expect([...encodePacket(suback, 4)]).toEqual([0x90, 8, 0, 1, 0, 1, 2, 0x80, 0x80, 0x80]);
  });

  function expectReasonCodes(firstByte: number, head: Bytes, allowed: readonly number[]): void {
    for (let reasonCode = 0; reasonCode < 256; reasonCode += 1) {
      const bytes = packet(firstByte, [head, reasonCode, NO_PROPERTIES]);
      if (allowed.includes(reasonCode)) expect(takes(bytes)).toMatchObject({ reasonCode });
      else refuses(MALFORMED, bytes);
    }
  }
});

describe('DISCONNECT and AUTH', () => {
  it('[MQTT-3.14.2-2] have no session expiry interval from a server', () => {
    const bytes = packet(0xe0, [0, section([0x11, 0, 0, 0, 1])]);
    refuses(PROTOCOL_ERROR, bytes, 5, 'client');
    takes(bytes);
  });

  it('have no server reference from a client', () => {
    refuses(PROTOCOL_ERROR, packet(0xe0, [0, section([0x1c, text('elsewhere')])]));
  });

  it('name their authentication method', () => {
    refuses(PROTOCOL_ERROR, packet(0xf0, [0x18, NO_PROPERTIES]));
    refuses(PROTOCOL_ERROR, packet(0xf0, [0x18, section([0x16, binary([1])])]));
    refuses(MALFORMED, packet(0xf0, [0x18]));
  });

  it('are no AUTH in MQTT 3.1.1', () => {
    refuses(MALFORMED, packet(0xf0, [0x18, section([0x15, text('m')])]), 4);
    refuses(MALFORMED, packet(0xf0, []), 4);
  });
});

describe('CONNACK', () => {
  it('[MQTT-3.2.2-1] has no flag but Session Present', () => {
    refuses(MALFORMED, packet(0x20, [2, 0, 0]), 5, 'client');
    refuses(MALFORMED, packet(0x20, [0x81, 0]), 4, 'client');
  });

  it.each([
    [0x00, 0],
    [0x84, 1],
    [0x85, 2],
    [0x88, 3],
    [0x89, 3],
    [0x9f, 3],
    [0x86, 4],
    [0x8c, 4],
    [0x87, 5],
    [0x8a, 5],
  ])('says reason code %i as return code %i to MQTT 3.1.1', (reasonCode, returnCode) => {
    const connack = { type: 'connack', sessionPresent: false, reasonCode, properties: {} } as const;
    expect([...encodePacket(connack, 4)]).toEqual([0x20, 2, 0, returnCode]);
  });
});
