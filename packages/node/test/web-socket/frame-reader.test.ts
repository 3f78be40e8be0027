import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameReader } from '../../src/web-socket/frame-reader.ts';
import type { FrameViolation } from '../../src/web-socket/frame-violation.ts';
import { type Frame, frameBytes } from '../support/client-frame.ts';

const MESSAGE_BYTES_MAX = 100_000;

interface Heard {
  readonly data: Buffer;
  readonly controls: readonly (readonly [opcode: number, payload: string])[];
  readonly violation: FrameViolation | undefined;
}

/** Reads bytes in pieces, each in a buffer that is overwritten afterwards, as the socket's is. */
function read(
  bytes: Uint8Array,
  pieceBytes = bytes.length,
  reader = new FrameReader(MESSAGE_BYTES_MAX),
): Heard {
  const data: Buffer[] = [];
  const controls: [number, string][] = [];
  let violation: FrameViolation | undefined;
  const handler = {
    data: (chunk: Uint8Array, start: number, end: number) =>
      data.push(Buffer.from(chunk.subarray(start, end))),
    control: (opcode: number, payload: Uint8Array) =>
      controls.push([opcode, Buffer.from(payload).toString('latin1')]),
    violated: (found: FrameViolation) => {
      violation = found;
    },
  };
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
    reader.push(piece, piece.length, handler);
    piece.fill(0xee);
  }
  return { data: Buffer.concat(data), controls, violation };
}

const readAll = (frames: readonly Frame[], pieceBytes?: number) =>
  read(Buffer.concat(frames.map(frameBytes)), pieceBytes);

const binary = (payload: Uint8Array | string, more: Partial<Frame> = {}): Frame => ({
  opcode: 2,
  payload: Buffer.from(payload),
  ...more,
});

describe('messages', () => {
  it.each([0, 1, 125, 126, 127, 128, 65_535, 65_536, 65_537, 100_000])(
    'of %d bytes arrive as they were, in one piece, in pieces of 997 bytes and of one (Autobahn 1.2)',
    (bytes) => {
      const payload = Buffer.from(Array.from({ length: bytes }, (_, index) => index % 251));
      for (const pieceBytes of [bytes + 14, 997, 1]) {
        const heard = readAll([binary(payload)], pieceBytes);
        expect(heard.violation).toBeUndefined();
        expect(heard.data.equals(payload)).toBe(true);
      }
    },
  );

  it('arrive in any fragments, any of which may be empty, with pings between them (Autobahn 5.3 to 5.8, 5.19)', () => {
    const frames = [
      binary('ab', { isFinal: false }),
      { opcode: 9, payload: Buffer.from('one') },
      { opcode: 0, payload: Buffer.alloc(0), isFinal: false },
      { opcode: 9, payload: Buffer.from('two') },
      { opcode: 0, payload: Buffer.from('cd') },
      binary('ef'),
    ];
    for (const pieceBytes of [1000, 7, 1])
      expect(readAll(frames, pieceBytes)).toEqual({
        data: Buffer.from('abcdef'),
        controls: [
          [9, 'one'],
          [9, 'two'],
        ],
        violation: undefined,
      });
  });

  it('have a mask of their own each, also one of zeros', () => {
    const frames = [0, 0xffffffff, 0x80000001, 0x01020304].map((mask) => binary('masked', { mask }));
    for (const pieceBytes of [1000, 3, 1])
      expect(readAll(frames, pieceBytes).data.toString()).toBe('masked'.repeat(4));
  });

  it('are read alike however frames and pieces are cut', () => {
    const message = fc
      .array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.integer(), fc.boolean()), {
        minLength: 1,
        maxLength: 4,
      })
      .map((fragments) =>
        fragments.flatMap(([payload, mask, hasPing], index): Frame[] => [
          ...(hasPing ? [{ opcode: 9, payload: Buffer.from('p'), mask }] : []),
          {
            opcode: index === 0 ? 2 : 0,
            payload: Buffer.from(payload),
            mask,
            isFinal: index === fragments.length - 1,
          },
        ]),
      );
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 4 }),
        fc.integer({ min: 1, max: 400 }),
        (messages, pieceBytes) => {
          const frames = messages.flat();
          const { data, controls, violation } = readAll(frames, pieceBytes);
          expect(violation).toBeUndefined();
          expect(controls.length).toBe(frames.filter(({ opcode }) => opcode === 9).length);
          const sent = frames.filter(({ opcode }) => opcode < 8).map(({ payload }) => payload);
          expect(data.equals(Buffer.concat(sent))).toBe(true);
        },
      ),
    );
  });
});

describe('control frames', () => {
  it.each([0, 1, 124, 125])(
    'of %d bytes are taken, whole and byte by byte (Autobahn 2.1 to 2.6)',
    (bytes) => {
      const payload = 'x'.repeat(bytes);
      for (const pieceBytes of [1000, 1])
        for (const opcode of [8, 9, 10])
          expect(readAll([{ opcode, payload: Buffer.from(payload) }], pieceBytes).controls).toEqual([
            [opcode, payload],
          ]);
    },
  );

  it.each([126, 127, 200, 65_536])('of %d bytes are refused (Autobahn 2.5, 7.3.6)', (bytes) => {
    for (const opcode of [8, 9, 10])
      expect(readAll([{ opcode, payload: Buffer.alloc(bytes) }]).violation?.code).toBe(1002);
  });

  it('are not fragmented (Autobahn 5.1, 5.2)', () => {
    for (const opcode of [8, 9, 10])
      expect(readAll([{ opcode, payload: Buffer.from('x'), isFinal: false }]).violation?.code).toBe(1002);
  });
});

describe('a violation of RFC 6455 ends the reading, with a code', () => {
  const refused = (frames: readonly Frame[]): readonly unknown[] => {
    const codes = [1000, 1].map((pieceBytes) => {
      const { violation, data, controls } = readAll([...frames, binary('behind it')], pieceBytes);
      expect(data.toString()).not.toContain('behind it');
      expect(controls).toEqual([]);
      return violation?.code;
    });
    return codes;
  };
  const PROTOCOL_ERROR = [1002, 1002];

  it.each([1, 2, 3, 4, 5, 6, 7])('the reserved bits %d (Autobahn 3)', (reserved) => {
    expect(refused([binary('x', { reserved })])).toEqual(PROTOCOL_ERROR);
    expect(refused([{ opcode: 9, payload: Buffer.alloc(0), reserved }])).toEqual(PROTOCOL_ERROR);
  });

  it.each([3, 4, 5, 6, 7, 11, 12, 13, 14, 15])('the opcode %d (Autobahn 4)', (opcode) => {
    for (const payload of [Buffer.alloc(0), Buffer.from('x')])
      expect(refused([{ opcode, payload }])).toEqual(PROTOCOL_ERROR);
  });

  it('a frame without a mask, at its header', () => {
    expect(refused([binary('x', { isMasked: false })])).toEqual(PROTOCOL_ERROR);
    expect(read(Buffer.from('8900', 'hex')).violation?.code).toBe(1002);
  });

  it('a continuation of nothing (Autobahn 5.9 to 5.14)', () => {
    for (const isFinal of [true, false])
      expect(refused([{ opcode: 0, payload: Buffer.from('x'), isFinal }])).toEqual(PROTOCOL_ERROR);
    expect(
      refused([binary('a', { payload: Buffer.alloc(0) }), { opcode: 0, payload: Buffer.alloc(0) }]),
    ).toEqual(PROTOCOL_ERROR);
  });

  it('a message within a message (Autobahn 5.15 to 5.18)', () => {
    for (const opcode of [1, 2])
      expect(refused([binary('', { isFinal: false }), { opcode, payload: Buffer.from('x') }])).toEqual(
        PROTOCOL_ERROR,
      );
  });

  it('text, at its header [MQTT-6.0.0-1]', () => {
    expect(refused([{ opcode: 1, payload: Buffer.from('x') }])).toEqual([1003, 1003]);
  });

  it.each([
    ['125 in 16 bits', `82fe007d00000000${'00'.repeat(125)}`],
    ['0 in 16 bits', '82fe000000000000'],
    ['1 in 64 bits', '82ff00000000000000010000000000'],
    ['65,535 in 64 bits', '82ff000000000000ffff00000000'],
  ])('a length that is not in its shortest form: %s', (_what, hex) => {
    for (const pieceBytes of [1000, 1])
      expect(read(Buffer.from(hex, 'hex'), pieceBytes).violation?.code).toBe(1002);
  });

  it.each(['82ff0000000000ffffff', '82ff7fffffffffffffff', '82ffffffffffffffffff'])(
    'the length of %s, which is over the limit, at its header',
    (hex) => {
      for (const pieceBytes of [1000, 1])
        expect(read(Buffer.from(`${hex}00000000`, 'hex'), pieceBytes).violation?.code).toBe(1009);
    },
  );

  it('fragments that are over the limit together, at the header of the one that is too much', () => {
    const half = Buffer.alloc(MESSAGE_BYTES_MAX / 2);
    const whole = [binary(half, { isFinal: false }), { opcode: 0, payload: half, isFinal: false }];
    expect(readAll(whole).violation).toBeUndefined();
    const last = frameBytes({ opcode: 0, payload: Buffer.from('x') }).subarray(0, 6);
    expect(read(Buffer.concat([...whole.map(frameBytes), last])).violation?.code).toBe(1009);
  });

  it('and any other bytes are read or refused', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.integer({ min: 1, max: 200 }),
        (bytes, pieceBytes) => {
          const { violation } = read(bytes, pieceBytes);
          expect([undefined, 1002, 1003, 1009]).toContain(violation?.code);
        },
      ),
    );
  });
});

describe('memory', () => {
  it('holds a header at most of a frame that never ends, and the payload of a control frame', () => {
    const reader = new FrameReader(MESSAGE_BYTES_MAX);
    const bytes = Buffer.concat([
      frameBytes(binary(Buffer.alloc(90_000), { isFinal: false })),
      frameBytes({ opcode: 9, payload: Buffer.alloc(125) }).subarray(0, 100),
    ]);
    read(bytes, 1, reader);
    expect(reader.heldBytes).toBe(125);
    const other = new FrameReader(MESSAGE_BYTES_MAX);
    read(frameBytes(binary(Buffer.alloc(70_000))).subarray(0, 13), 1, other);
    expect(other.heldBytes).toBe(13);
    const fragments = new FrameReader(MESSAGE_BYTES_MAX);
    const empty = frameBytes({ opcode: 0, payload: Buffer.alloc(0), isFinal: false });
    read(
      Buffer.concat([frameBytes(binary('', { isFinal: false })), ...Array(10_000).fill(empty)]),
      5,
      fragments,
    );
    expect(fragments.heldBytes).toBeLessThan(6);
  });
});
