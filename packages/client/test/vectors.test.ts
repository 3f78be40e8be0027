import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { reAuthenticate, removeMethod } from '../src/auth-packets.ts';
import { decodeServerFrame, encodeClientFrame } from '../src/frame.ts';
import { splitPackets } from '../src/packet.ts';
import { SessionFacts } from '../src/session-facts.ts';
import { readClientFrame } from './support/client-frame.ts';

interface Vector {
  readonly name: string;
  readonly text: string;
  readonly hex: string;
}
interface Rewritten {
  readonly name: string;
  readonly library: string;
  readonly wire: string;
}
interface Vectors {
  readonly clientFrames: readonly (Vector & {
    readonly replyWanted: boolean;
    readonly clock?: string;
    readonly offer?: readonly string[];
    readonly ticket?: string;
    readonly isResume?: boolean;
  })[];
  readonly badClientFrames: readonly Pick<Vector, 'name' | 'text'>[];
  readonly serverFrames: readonly (Vector & {
    readonly kind: string;
    readonly more?: boolean;
    readonly taken?: number;
    readonly clock?: string;
    readonly parts?: number;
    readonly extensions?: readonly string[];
    readonly move?: string;
  })[];
  readonly badServerFrames: readonly Pick<Vector, 'name' | 'text'>[];
  readonly renewal: {
    readonly connect: readonly Rewritten[];
    readonly connack: readonly Rewritten[];
    readonly auth: readonly { readonly name: string; readonly token: string; readonly wire: string }[];
  };
}

const file = new URL('../../../docs/text-frames.vectors.json', import.meta.url);
const vectors: Vectors = JSON.parse(readFileSync(file, 'utf8'));
const hex = (parts: readonly Uint8Array[]): string => Buffer.concat(parts).toString('hex');

/** Frames without packets, and other forms that a server must read and this client does not use. */
const OTHER_WAYS = ['PINGREQ, reply wanted, said explicitly', 'fetch, as an empty frame', 'a sign of life'];

describe('client frames', () => {
  test.each(vectors.clientFrames)(
    '$name are read by a strict server',
    ({ text, hex: bytes, replyWanted, clock, offer, ticket, isResume }) => {
      const frame = readClientFrame(text);
      expect(frame && { ...frame, packets: hex(frame.packets) }).toEqual({
        packets: bytes,
        replyWanted,
        clock,
        offered: offer,
        ticket,
        ...(ticket !== undefined && { isResume: isResume === true }),
      });
    },
  );

  test.each(vectors.clientFrames.filter(({ name, ticket }) => !OTHER_WAYS.includes(name) && !ticket))(
    '$name are written so',
    ({ text, hex: bytes, replyWanted, clock, offer }) => {
      const packets = splitPackets(Buffer.from(bytes, 'hex')) ?? [];
      expect(encodeClientFrame(packets, replyWanted, clock, offer && `(${offer})`)).toBe(text);
    },
  );

  test.each(vectors.badClientFrames)('$name are refused by a strict server', ({ text }) => {
    expect(readClientFrame(text)).toBeUndefined();
  });

  test('leave the clock out if they are full', () => {
    const frame = [new Uint8Array(24_573)];
    const text = encodeClientFrame(frame, true, '0mh1t2c4x0001');
    expect(text).toHaveLength(32_764);
    expect(encodeClientFrame(frame, false, '0mh1t2c4x0001')).toHaveLength(32_765);
  });

  test('leave offer and clock out if both do not fit', () => {
    const clock = '0mh1t2c4x0001';
    expect(encodeClientFrame([new Uint8Array(24_564)], true, clock, '(nudge)')).toHaveLength(32_752);
    const text = encodeClientFrame([new Uint8Array(24_558)], true, clock, '(nudge)');
    expect(text.startsWith(`(nudge)@${clock}.`)).toBe(true);
    expect(text).toHaveLength(32_766);
  });

  test('carry the clock in the largest frame that has room for it', () => {
    const text = encodeClientFrame([new Uint8Array(24_564)], true, '0mh1t2c4x0001');
    expect(text).toHaveLength(32_767);
    expect(text.startsWith('@0mh1t2c4x0001.')).toBe(true);
  });
});

describe('server frames', () => {
  test.each(vectors.serverFrames)('$name are read', (vector) => {
    const { kind, text, hex: bytes, more, taken, clock, parts = 0, extensions, move } = vector;
    const frame = decodeServerFrame(text);
    expect(frame.kind).toBe(kind);
    if (frame.kind === 'push' || frame.kind === 'part') expect(hex([frame.bytes])).toBe(bytes);
    if (frame.kind !== 'reply') return;
    const fields = { kind, bytes, more, taken, clock, parts, extensions: extensions?.join(), move };
    expect({ ...frame, bytes: hex([frame.bytes]) }).toEqual(fields);
  });

  test.each(vectors.badServerFrames)('$name cannot be read', ({ text }) => {
    expect(decodeServerFrame(text).kind).toBe('unreadable');
  });
});

describe('the changes that the transport makes to packets', () => {
  const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

  test.each(vectors.renewal.connect)('$name', ({ library, wire }) => {
    expect(hex([new SessionFacts().connect(bytesOf(library), 540, true)])).toBe(wire);
  });

  test.each(vectors.renewal.connack)('$name', ({ library, wire }) => {
    expect(hex([removeMethod(bytesOf(wire))])).toBe(library);
  });

  test.each(vectors.renewal.auth)('$name', ({ token, wire }) => {
    expect(hex([reAuthenticate(token)])).toBe(wire);
  });
});
