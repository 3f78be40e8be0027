import { describe, expect, it } from 'vitest';
import { PacketDecoder, type ProtocolVersion } from '../src/index.ts';
import { type Bytes, binary, buffer, connectHead, NO_PROPERTIES, packet, section, text } from './bytes.ts';
import { refuses, takes } from './refuses.ts';

const MALFORMED = 0x81;
const PROTOCOL_ERROR = 0x82;
const UNSUPPORTED = 0x84;

function connect(level: number, flags: number, ...rest: Bytes): Buffer {
  return packet(0x10, [connectHead(level, flags), level === 5 ? NO_PROPERTIES : [], rest]);
}

function connectWithProperties(...properties: Bytes): Buffer {
  return packet(0x10, [connectHead(5, 0b10), section(properties), text('c')]);
}

function connectWithWill(willProperties: Bytes, topic: string): Buffer {
  return connect(5, 0b110, text('c'), section(willProperties), text(topic), binary([]));
}

describe('the protocol of a CONNECT', () => {
  const named = (name: string, level: number) => packet(0x10, [text(name), level, 2, 0, 0, text('c')]);

  it('[MQTT-3.1.2-1] [MQTT3-3.1.2-1] of another name is refused without an answer', () => {
    for (const name of ['AMQP', 'mqtt', 'MQTT ', '', 'MQIsd']) {
      expect(refuses(UNSUPPORTED, named(name, 4)).answerAs).toBeUndefined();
    }
  });

  it.each<[number, ProtocolVersion]>([
    [0, 4],
    [3, 4],
    [6, 5],
    [127, 5],
    [131, 4], // bridges set the high bit of the level they speak
    [132, 4],
    [133, 5],
    [255, 5],
  ])(
    '[MQTT-3.1.2-2] [MQTT3-3.1.2-2] at level %i is refused with CONNACK in version %i',
    (level, answerAs) => {
      expect(refuses(UNSUPPORTED, named('MQTT', level)).answerAs).toBe(answerAs);
    },
  );

  it('of MQTT 3.1 is level 3', () => {
    takes(named('MQIsdp', 3));
    expect(refuses(UNSUPPORTED, named('MQIsdp', 4)).answerAs).toBe(4);
  });

  it('is known to the refusal of what follows it', () => {
    expect(refuses(MALFORMED, connect(5, 0b11, text('c'))).answerAs).toBe(5);
    expect(refuses(MALFORMED, packet(0x10, [text('MQTT'), 5])).answerAs).toBe(5);
    expect(refuses(MALFORMED, packet(0x10, [text('MQTT')])).answerAs).toBeUndefined();
  });

  it('[MQTT3-3.1.4-1] of 3.1.1 has no answer to a malformed CONNECT', () => {
    expect(refuses(MALFORMED, connect(4, 0b11, text('c'))).answerAs).toBeUndefined();
    expect(refuses(MALFORMED, connect(4, 0b10)).answerAs).toBeUndefined();
  });
});

describe('the flags of a CONNECT', () => {
  it('[MQTT-3.1.2-12] have no will QoS 3', () => {
    refuses(MALFORMED, connect(5, 0b0001_1110, text('c'), NO_PROPERTIES, text('t'), binary([])));
  });

  it('[MQTT3-3.1.2-22] have a password only with a user name, until MQTT 5.0', () => {
    refuses(MALFORMED, connect(4, 0b0100_0010, text('c'), binary([1])), 4);
    takes(connect(5, 0b0100_0010, text('c'), binary([1])));
  });

  it('[MQTT-3.1.2-16] [MQTT-3.1.2-18] say which fields follow, and no other may', () => {
    refuses(MALFORMED, connect(5, 0b0000_0010, text('c'), text('user')));
    refuses(MALFORMED, connect(5, 0b1000_0010, text('c'), text('user'), binary([1])));
  });
});

describe('the client identifier', () => {
  it('[MQTT-3.1.3-4] is well-formed UTF-8', () => {
    refuses(MALFORMED, connect(5, 0b10, binary([0xc0, 0x80])));
  });

  it('may be longer than the 23 characters of [MQTT-3.1.3-5], in MQTT 3.1 too', () => {
    const clientId = 'x'.repeat(65_535);
    for (const level of [3, 4, 5])
      expect(takes(connect(level, 0b10, text(clientId)))).toMatchObject({ clientId });
  });

  it('may be empty in MQTT 5.0', () => {
    takes(connect(5, 0b00, text('')));
  });

  it('[MQTT3-3.1.3-7] [MQTT3-3.1.3-8] may be empty in MQTT 3.1.1 with Clean Session, and is refused without', () => {
    takes(connect(4, 0b10, text('')));
    expect(refuses(0x85, connect(4, 0b00, text(''))).answerAs).toBe(4);
  });

  it('[MQTT3-3.1.3-9] is not empty in MQTT 3.1, and its refusal has a return code', () => {
    expect(refuses(0x85, connect(3, 0b10, text(''))).answerAs).toBe(3);
  });
});

describe('the Will', () => {
  it('has a response topic without wildcards', () => {
    takes(connectWithWill([0x08, text('a')], 't'));
    refuses(PROTOCOL_ERROR, connectWithWill([0x08, text('a/+')], 't'));
    refuses(PROTOCOL_ERROR, connectWithWill([0x08, text('')], 't'));
  });

  it('has its own properties and none of the CONNECT', () => {
    takes(connectWithWill([0x18, 0, 0, 0, 1], 't')); // will delay interval
    refuses(MALFORMED, connectWithWill([0x11, 0, 0, 0, 1], 't')); // session expiry interval
    refuses(MALFORMED, connectWithProperties(0x18, 0, 0, 0, 1));
  });
});

describe('the properties of a CONNECT', () => {
  it('are in range', () => {
    refuses(PROTOCOL_ERROR, connectWithProperties(0x21, 0, 0)); // receive maximum 0
    refuses(PROTOCOL_ERROR, connectWithProperties(0x27, 0, 0, 0, 0)); // maximum packet size 0
    refuses(PROTOCOL_ERROR, connectWithProperties(0x19, 2)); // request response information
    refuses(PROTOCOL_ERROR, connectWithProperties(0x17, 2)); // request problem information
    takes(connectWithProperties([0x21, 0, 1], [0x27, 0, 0, 0, 1], [0x19, 0], [0x17, 1], [0x22, 0, 0]));
  });
});

describe('the order of a connection', () => {
  const first = connect(5, 0b10, text('c'));
  const decoder = () => new PacketDecoder({ maximumPacketSize: 1000 });

  it('[MQTT-3.1.0-1] begins with CONNECT', () => {
    const results = decoder().push(packet(0xc0, []));
    expect(results).toMatchObject([{ reasonCode: PROTOCOL_ERROR }]);
  });

  it('[MQTT-3.1.0-2] [MQTT3-3.1.0-2] has one CONNECT', () => {
    expect(decoder().push(Buffer.concat([first, first]))).toMatchObject([
      { type: 'connect' },
      { reasonCode: PROTOCOL_ERROR },
    ]);
    const resumed = new PacketDecoder({ maximumPacketSize: 1000, protocolVersion: 5 });
    expect(resumed.push(first)).toMatchObject([{ reasonCode: PROTOCOL_ERROR }]);
  });

  it('gives the version to what follows', () => {
    const publish = buffer([0x30, 4, text('t'), 0]); // In MQTT 5.0 the 0 is an empty section, before that payload.
    for (const [level, bytes] of [
      [4, 1],
      [5, 0],
    ] as const) {
      const subject = decoder();
      expect(subject.protocolVersion).toBeUndefined();
      const [, received] = subject.push(Buffer.concat([connect(level, 0b10, text('c')), publish]));
      expect(subject.protocolVersion).toBe(level);
      expect(received).toMatchObject({ type: 'publish', payload: { length: bytes } });
    }
  });

  it('ends with a violation: nothing more is decoded', () => {
    const subject = decoder();
    const results = subject.push(Buffer.concat([first, packet(0xc1, []), packet(0xc0, [])]));
    expect(results).toMatchObject([{ type: 'connect' }, { reasonCode: MALFORMED }]);
    expect(subject.push(packet(0xc0, []))).toEqual([]);
  });
});
