import { readFileSync } from 'node:fs';
import { Violation } from '@apus/mqtt';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readServerFrame } from '../../../../test/support/server-frame.ts';
import {
  AGREED_BYTES_MAX,
  CLIENT_PACKET_BYTES_MAX,
  EXTENSIONS,
  type Extension,
  formatPart,
  formatPush,
  formatReply,
  PACKED_BYTES_MAX,
  parseClientFrame,
  REPLY_BYTES_MAX,
  SERVER_FRAME_BYTES_MAX,
} from '../../src/index.ts';

interface Vector {
  readonly name: string;
  readonly text: string;
  readonly hex: string;
  readonly clock?: string;
}

interface ClientVector extends Vector {
  readonly replyWanted: boolean;
  readonly offer?: readonly string[];
  readonly ticket?: string;
  readonly isResume?: boolean;
}

interface ServerVector extends Vector {
  readonly kind: 'reply' | 'part' | 'push' | 'error' | 'nothing';
  readonly more: boolean;
  readonly taken?: number;
  readonly parts?: number;
  readonly extensions?: readonly Extension[];
  readonly move?: string;
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../../docs/text-frames.vectors.json', import.meta.url), 'utf8'),
) as {
  readonly clientFrames: readonly ClientVector[];
  readonly badClientFrames: readonly { readonly name: string; readonly text: string }[];
  readonly serverFrames: readonly ServerVector[];
  readonly badServerFrames: readonly { readonly name: string; readonly text: string }[];
};

/** The frame, which must be one. */
function parsed(text: string) {
  const frame = parseClientFrame(text);
  if (frame instanceof Violation) throw new Error(`refused: ${frame.reason}`);
  return frame;
}

const someBytes = fc.uint8Array({ maxLength: 300 });
const someClock = fc.stringMatching(/^[0-9a-z]{13}$/);

describe('a client frame of the test vectors', () => {
  it.each(vectors.clientFrames)('is read: $name', (vector) => {
    const { text, hex, replyWanted, clock, offer, ticket, isResume = false } = vector;
    const frame = parsed(text);
    expect(frame.bytes.toString('hex')).toBe(hex);
    expect(frame.replyWanted).toBe(replyWanted);
    expect(frame.clock).toBe(clock);
    expect(frame.offered).toEqual(offer && EXTENSIONS.filter((name) => offer.includes(name)));
    expect(frame.ticket).toBe(ticket);
    expect(frame.isResume === true).toBe(isResume);
  });

  it.each(vectors.badClientFrames)('is refused as malformed: $name', ({ text }) => {
    expect(parseClientFrame(text)).toMatchObject({ reasonCode: 0x81 });
    expect(parseClientFrame(text)).toBeInstanceOf(Violation);
  });
});

describe('a server frame of the test vectors', () => {
  const replies = vectors.serverFrames.filter(({ kind }) => kind === 'reply');
  const pushes = vectors.serverFrames.filter(({ kind }) => kind === 'push');
  const parts = vectors.serverFrames.filter(({ kind }) => kind === 'part');

  it.each(replies)('is written: $name', ({ text, hex, ...fields }) => {
    expect(formatReply({ bytes: Buffer.from(hex, 'hex'), ...fields })).toBe(text);
  });

  it.each(parts)('is written: $name', ({ text, hex }) => {
    expect(formatPart(Buffer.from(hex, 'hex'))).toBe(text);
  });

  it.each(pushes)('is written: $name', ({ text, hex }) => {
    expect(formatPush(Buffer.from(hex, 'hex'))).toBe(text);
  });

  it.each(vectors.serverFrames)('is read by the clients of these tests: $name', (vector) => {
    const frame = readServerFrame(vector.text);
    expect(frame.kind).toBe(vector.kind);
    if ('bytes' in frame) expect(frame.bytes.toString('hex')).toBe(vector.hex);
    if (frame.kind !== 'reply') return;
    const { more, taken, clock, parts = 0, extensions, move } = vector;
    expect(frame).toMatchObject({ more, taken, clock, parts, extensions, move });
  });

  it.each(vectors.badServerFrames)('is refused by the clients of these tests: $name', ({ text }) => {
    expect(() => readServerFrame(text)).toThrow();
  });
});

describe('text frames', () => {
  it('of a client carry any bytes, marker and clock', () => {
    const markers = fc.constantFrom('', '.', ',');
    fc.assert(
      fc.property(someBytes, markers, fc.option(someClock), (bytes, marker, clock) => {
        fc.pre(marker !== '' || clock === null);
        fc.pre(marker !== ',' || bytes.length > 0);
        const head = clock === null ? '' : `@${clock}`;
        const frame = parsed(`${head}${marker}${Buffer.from(bytes).toString('base64')}`);
        expect(frame.bytes.equals(bytes)).toBe(true);
        expect(frame.replyWanted).toBe(marker !== ',');
        expect(frame.clock).toBe(clock ?? undefined);
      }),
    );
  });

  it('of a server carry any bytes, the number of packets taken, the parts and the clock', () => {
    const fields = {
      bytes: someBytes,
      more: fc.boolean(),
      clock: fc.option(someClock),
      taken: fc.option(fc.nat(9999)),
      parts: fc.nat(99),
      extensions: fc.option(fc.subarray([...EXTENSIONS])),
      move: fc.option(fc.constantFrom('!later', '-x=.abc,7200', 'a.b,1')),
    };
    fc.assert(
      fc.property(fc.record(fields), ({ bytes, more, clock, taken, parts, extensions, move }) => {
        const text = formatReply({
          bytes,
          more,
          clock: clock ?? undefined,
          taken: taken ?? undefined,
          parts,
          extensions: extensions ?? undefined,
          move: move ?? undefined,
        });
        const frame = readServerFrame(text);
        expect(frame).toEqual({
          kind: 'reply',
          bytes: Buffer.from(bytes),
          more,
          taken: taken ?? undefined,
          clock: clock ?? undefined,
          parts,
          extensions: extensions ?? undefined,
          move: move ?? undefined,
        });
      }),
    );
  });

  it('are read or refused, for any text: reading never throws', () => {
    const alphabet = fc.string({
      unit: fc.constantFrom('@', '.', ',', '!', ':', ';', '{', '~', '(', ')', '=', 'A', '/', '0', '\n'),
    });
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), alphabet), (text) => {
        const frame = parseClientFrame(text);
        expect(frame instanceof Violation || frame.bytes.length <= text.length).toBe(true);
      }),
    );
  });

  it('survive a round trip: reading returns the written bytes', () => {
    const base64 = fc.string({
      unit: fc.constantFrom('A', 'B', 'Q', 'g', 'w', '/', '+', '='),
      maxLength: 12,
    });
    fc.assert(
      fc.property(base64, (text) => {
        const frame = parseClientFrame(text);
        if (!(frame instanceof Violation)) expect(frame.bytes.toString('base64')).toBe(text);
      }),
    );
  });
});

describe('the limits of a frame', () => {
  it('are 24,573 bytes and a marker in 32,768 characters', () => {
    expect(`,${formatPush(Buffer.alloc(CLIENT_PACKET_BYTES_MAX))}`).toHaveLength(32_765);
    expect(formatPush(Buffer.alloc(CLIENT_PACKET_BYTES_MAX + 3))).toHaveLength(32_768);
  });

  it('are 98,301 bytes as a part, and 98,286 behind the longest head of a reply, in 131,072 characters', () => {
    const longest = { more: true, clock: '0'.repeat(13), taken: 9999, parts: 99 };
    const text = formatReply({ ...longest, bytes: Buffer.alloc(PACKED_BYTES_MAX) });
    expect(text.length).toBeLessThanOrEqual(32_768);
    const largest = formatReply({ ...longest, bytes: Buffer.alloc(REPLY_BYTES_MAX) });
    expect(largest.length).toBeLessThanOrEqual(131_072);
    expect(formatPart(Buffer.alloc(SERVER_FRAME_BYTES_MAX)).length).toBeLessThanOrEqual(131_072);
    const first = {
      ...longest,
      extensions: EXTENSIONS,
      bytes: Buffer.alloc(REPLY_BYTES_MAX - AGREED_BYTES_MAX),
    };
    expect(formatReply(first).length).toBeLessThanOrEqual(131_072);
  });

  it('are 128 characters of an offer', () => {
    expect(parsed(`(${'x'.repeat(122)},nudge)`).offered).toEqual(['nudge']);
    expect(parseClientFrame(`(${'x'.repeat(123)},nudge)`)).toMatchObject({ reasonCode: 0x81 });
  });
});
