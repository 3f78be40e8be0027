import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UnfinishedMessage } from '../src/unfinished-message.ts';

interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payloadBytes: number;
}

/** A client's frame, masked. */
function bytesOf({ opcode, isFinal, payloadBytes }: Frame): Buffer {
  const length =
    payloadBytes < 126
      ? [payloadBytes]
      : payloadBytes <= 0xffff
        ? [126, payloadBytes >> 8, payloadBytes & 0xff]
        : [127, 0, 0, 0, 0, 0, payloadBytes >> 16, (payloadBytes >> 8) & 0xff, payloadBytes & 0xff];
  const [code = 0, ...extended] = length;
  const header = [(isFinal ? 0x80 : 0) | opcode, 0x80 | code, ...extended, 1, 2, 3, 4];
  return Buffer.concat([Buffer.from(header), Buffer.alloc(payloadBytes, 7)]);
}

const size = fc.oneof(fc.nat(200), fc.constantFrom(125, 126, 65_535, 65_536, 70_000));

/** Whole messages in any number of fragments, with pings between those. */
const message = fc
  .array(fc.tuple(size, fc.boolean()), { minLength: 1, maxLength: 4 })
  .map((fragments) =>
    fragments.flatMap(([payloadBytes, hasPing], index): Frame[] => [
      ...(hasPing ? [{ opcode: 9, isFinal: true, payloadBytes: 3 }] : []),
      { opcode: index === 0 ? 2 : 0, isFinal: index === fragments.length - 1, payloadBytes },
    ]),
  );

function pushInPieces(meter: UnfinishedMessage, bytes: Buffer, pieceBytes: number): void {
  for (let at = 0; at < bytes.length; at += pieceBytes) meter.push(bytes.subarray(at, at + pieceBytes));
}

describe('what a client has sent of a message whose end has not come', () => {
  test('is nothing behind whole messages, in any frames and pieces', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 4 }),
        fc.integer({ min: 1, max: 70_000 }),
        (messages, piece) => {
          const meter = new UnfinishedMessage();
          pushInPieces(meter, Buffer.concat(messages.flat().map(bytesOf)), piece);
          expect(meter.payloadBytes).toBe(0);
          expect(meter.weight).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('is all of its fragments that came, and what comes of the next', () => {
    const meter = new UnfinishedMessage();
    meter.push(bytesOf({ opcode: 2, isFinal: true, payloadBytes: 5000 }));
    meter.push(bytesOf({ opcode: 2, isFinal: false, payloadBytes: 1000 }));
    meter.push(bytesOf({ opcode: 9, isFinal: true, payloadBytes: 0 }));
    meter.push(bytesOf({ opcode: 0, isFinal: true, payloadBytes: 1000 }).subarray(0, 8 + 300));
    expect(meter.payloadBytes).toBe(1300);
    expect(meter.weight).toBeGreaterThan(1300);
  });

  test('weighs more than its bytes where it comes in tiny pieces, each of which is kept by itself', () => {
    const meter = new UnfinishedMessage();
    const bytes = bytesOf({ opcode: 2, isFinal: true, payloadBytes: 1000 });
    pushInPieces(meter, bytes.subarray(0, 900), 1);
    expect(meter.weight).toBeGreaterThan(900 * 100);
  });

  test('starts anew behind a message that ends within a piece', () => {
    const meter = new UnfinishedMessage();
    const whole = bytesOf({ opcode: 2, isFinal: true, payloadBytes: 40_000 });
    meter.push(whole.subarray(0, 20_000));
    meter.push(Buffer.concat([whole.subarray(20_000), whole.subarray(0, 108)]));
    expect(meter.payloadBytes).toBe(100);
    expect(meter.weight).toBeLessThan(1000);
  });
});
