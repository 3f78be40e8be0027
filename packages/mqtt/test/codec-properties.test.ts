import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import {
  decodePacket,
  encodePacket,
  encodePublish,
  PacketDecoder,
  type ProtocolVersion,
  publishLength,
  type Role,
  Violation,
  withPacketId,
} from '../src/index.ts';
import { publish, sent, stream } from './arbitraries.ts';

const RUNS = { numRuns: runs(500) };

/** The pieces that a stream falls into when it is cut at these places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % bytes.length))].sort((a, b) => a - b);
  return [0, ...ends].map((start, index) => bytes.slice(start, ends[index] ?? bytes.length));
}

describe('any packet', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(sent, ({ version, receiver, packet }) => {
        expect(decodePacket(encodePacket(packet, version), version, receiver)).toStrictEqual(packet);
      }),
      { numRuns: runs(3000) },
    );
  });

  it('comes back from a stream, however the stream is cut', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 20 }), ({ receiver, packets }, places) => {
        const bytes = Buffer.concat(packets.map((packet) => encodePacket(packet, 5)));
        const decoder = new PacketDecoder({ maximumPacketSize: 10_000, role: receiver, protocolVersion: 5 });
        const results = cut(bytes, places).flatMap((piece) => decoder.push(piece));
        expect(results).toStrictEqual(packets);
      }),
      RUNS,
    );
  });

  it('may have any of its bytes changed: it is read as another or refused, and nothing is thrown', () => {
    const change = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(
        sent,
        fc.array(change, { minLength: 1, maxLength: 4 }),
        ({ version, receiver, packet }, changes) => {
          const bytes = Buffer.from(encodePacket(packet, version));
          for (const [place, value] of changes) bytes[place % bytes.length] = value;
          expectSound(bytes, version, receiver);
        },
      ),
      { numRuns: runs(3000) },
    );
  });

  it('may have bytes taken out or put in', () => {
    fc.assert(
      fc.property(
        sent,
        fc.nat(),
        fc.nat({ max: 3 }),
        fc.uint8Array({ maxLength: 3 }),
        (one, place, out, put) => {
          const bytes = Buffer.from(encodePacket(one.packet, one.version));
          const at = place % bytes.length;
          const changed = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + out)]);
          expectSound(changed, one.version, one.receiver);
          // With its length made right again the fields themselves are reached.
          const framed = Buffer.concat([
            changed.subarray(0, 1),
            Uint8Array.of(100),
            changed.subarray(2),
          ]).subarray(0, 102);
          framed[1] = framed.length - 2;
          expectSound(framed, one.version, one.receiver);
        },
      ),
      { numRuns: runs(2000) },
    );
  });
});

describe('any bytes', () => {
  it('are packets or one violation at the end, and nothing is thrown', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 60 })),
        fc.constantFrom(undefined, 3, 4, 5),
        (pieces, version) => {
          const decoder = new PacketDecoder({
            maximumPacketSize: 100,
            ...(version === undefined ? {} : { protocolVersion: version }),
          });
          const results = pieces.flatMap((piece) => decoder.push(piece));
          const violations = results.filter((result) => result instanceof Violation);
          expect(violations.length).toBeLessThanOrEqual(1);
          if (violations.length === 1) expect(results.at(-1)).toBeInstanceOf(Violation);
        },
      ),
      { numRuns: runs(2000) },
    );
  });

  it('behind any good fixed header are a packet or a violation', () => {
    const firstBytes = [0x10, 0x30, 0x32, 0x3d, 0x40, 0x50, 0x62, 0x70, 0x82, 0xa2, 0xc0, 0xe0, 0xf0];
    fc.assert(
      fc.property(fc.constantFrom(...firstBytes), fc.uint8Array({ maxLength: 80 }), (firstByte, body) => {
        const bytes = Buffer.from([firstByte, body.length, ...body]);
        for (const version of [3, 4, 5] as const) expectSound(bytes, version, 'server');
      }),
      { numRuns: runs(3000) },
    );
  });
});

describe('any PUBLISH', () => {
  it('is as long as it is measured', () => {
    fc.assert(
      fc.property(publish, ({ version, packet }) => {
        expect(publishLength(packet, version)).toBe(encodePublish(packet, version).bytes.length);
      }),
      RUNS,
    );
  });

  it('takes another packet identifier without being encoded again, and the first keeps its own', () => {
    fc.assert(
      fc.property(publish, fc.integer({ min: 1, max: 65_535 }), ({ version, packet }, packetId) => {
        const encoded = encodePublish(packet, version);
        const before = Buffer.from(encoded.bytes);
        const expected = { ...packet, packetId: packet.qos === 0 ? 0 : packetId };
        expect(withPacketId(encoded, packetId)).toEqual(encodePublish(expected, version).bytes);
        expect(encoded.bytes).toEqual(before);
      }),
      RUNS,
    );
  });
});

/** A decoded packet encodes, and decodes again to the same packet: the decoder passes no half-read packet. */
function expectSound(bytes: Uint8Array, version: ProtocolVersion, receiver: Role): void {
  const result = decodePacket(bytes, version, receiver);
  if (result instanceof Violation) {
    expect(result.reasonCode).toBeGreaterThanOrEqual(0x80);
    return;
  }
  const spoken = result.type === 'connect' ? result.protocolVersion : version;
  expect(decodePacket(encodePacket(result, spoken), spoken, receiver)).toStrictEqual(result);
}
