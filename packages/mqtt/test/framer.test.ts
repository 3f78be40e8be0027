import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Packet, PacketDecoder, Violation } from '../src/index.ts';
import { buffer, packet, text } from './bytes.ts';

const PACKET_TOO_LARGE = 0x95;

function publishOf(payload: Uint8Array): Buffer {
  return packet(0x30, [text('t'), [...payload]]);
}

function decoderOf(maximumPacketSize: number): PacketDecoder {
  return new PacketDecoder({ maximumPacketSize, protocolVersion: 4 });
}

function payloadOf(result: Packet | Violation | undefined): Uint8Array {
  if (result instanceof Violation || result?.type !== 'publish') throw new Error('That is no PUBLISH');
  return result.payload;
}

afterEach(() => vi.restoreAllMocks());

describe('a packet of more bytes than allowed', () => {
  it('[MQTT-3.2.2-15] is refused from its header, and one byte less is taken', () => {
    const bytes = publishOf(Buffer.alloc(200));
    expect(decoderOf(bytes.length).push(bytes)).toMatchObject([{ type: 'publish' }]);
    const header = bytes.subarray(0, 3);
    expect(decoderOf(bytes.length).push(header)).toEqual([]);
    expect(decoderOf(bytes.length - 1).push(header)).toMatchObject([{ reasonCode: PACKET_TOO_LARGE }]);
  });

  it('is refused although its header comes byte by byte', () => {
    const decoder = decoderOf(1000);
    const results = [0x30, 0xff, 0xff, 0xff, 0x7f].map((byte) => decoder.push(Uint8Array.of(byte)));
    expect(results.slice(0, -1).flat()).toEqual([]);
    expect(results.at(-1)).toMatchObject([{ reasonCode: PACKET_TOO_LARGE }]);
  });

  it('is refused before CONNECT too', () => {
    const decoder = new PacketDecoder({ maximumPacketSize: 100 });
    expect(decoder.push(buffer([0x10, 0x64]))).toMatchObject([{ reasonCode: PACKET_TOO_LARGE }]);
  });
});

describe('a CONNECT of more bytes than are taken before it', () => {
  const announced = (level: number, ...rest: number[]) =>
    buffer([0x10, 0xff, 0x7f, [...text('MQTT')], level, ...rest]);
  const decoderWith = (connectBytesMax: number) =>
    new PacketDecoder({ maximumPacketSize: 100_000, connectBytesMax });

  it('is refused from its first bytes, and said so in MQTT 5.0 alone', () => {
    const [in5] = decoderWith(1000).push(announced(5));
    expect(in5).toMatchObject({ reasonCode: PACKET_TOO_LARGE, answerAs: 5 });
    const [in311] = decoderWith(1000).push(announced(4));
    expect(in311).toMatchObject({ reasonCode: PACKET_TOO_LARGE, answerAs: undefined });
    const [unknown] = decoderWith(1000).push(announced(5).subarray(0, 9));
    expect(unknown).toMatchObject({ reasonCode: PACKET_TOO_LARGE, answerAs: undefined });
  });

  it('does not lower the limit of the packets behind CONNECT', () => {
    const connect = packet(0x10, [text('MQTT'), 4, 2, 0, 0, text('a')]);
    const large = publishOf(Buffer.alloc(5000));
    const packets = decoderWith(connect.length).push(Buffer.concat([connect, large]));
    expect(packets).toMatchObject([{ type: 'connect' }, { type: 'publish' }]);
    expect(decoderWith(connect.length - 1).push(connect)).toMatchObject([{ reasonCode: PACKET_TOO_LARGE }]);
  });
});

describe('a first byte that is wrong', () => {
  it('is refused before anything follows it', () => {
    expect(decoderOf(100).push(Uint8Array.of(0x00))).toMatchObject([{ reasonCode: 0x81 }]);
    expect(new PacketDecoder({ maximumPacketSize: 100 }).push(Buffer.from('G'))).toMatchObject([
      { reasonCode: 0x81 }, // `GET / HTTP/1.1` begins like a PUBACK with flags
    ]);
  });

  it('is refused behind a good packet', () => {
    const results = decoderOf(100).push(buffer([0xc0, 0, 0xc1]));
    expect(results).toMatchObject([{ type: 'pingreq' }, { reasonCode: 0x81 }]);
  });
});

describe('payloads', () => {
  it('are views when their packet came in one piece', () => {
    const bytes = publishOf(Buffer.from('one'));
    const payload = payloadOf(decoderOf(100).push(bytes)[0]);
    expect(payload.buffer).toBe(bytes.buffer);
    expect(payload.byteOffset + payload.length).toBe(bytes.byteOffset + bytes.length);
  });

  it('stay as they are when more is pushed', () => {
    const decoder = decoderOf(1000);
    const stream = Buffer.concat(
      ['first', 'second', 'third'].map((payload) => publishOf(Buffer.from(payload))),
    );
    const payloads: Uint8Array[] = [];
    for (let at = 0; at < stream.length; at += 7) {
      payloads.push(...decoder.push(Uint8Array.from(stream.subarray(at, at + 7))).map(payloadOf));
    }
    expect(payloads.map((payload) => Buffer.from(payload).toString())).toEqual(['first', 'second', 'third']);
  });

  it('of plain Uint8Arrays at an offset are found', () => {
    const bytes = new Uint8Array([9, 9, ...publishOf(Buffer.from('one')), 9]).subarray(2, -1);
    expect(Buffer.from(payloadOf(decoderOf(100).push(bytes)[0])).toString()).toBe('one');
  });
});

describe('a packet in many pieces', () => {
  it('is copied a few times, not with every piece', () => {
    const size = 200_000;
    const bytes = publishOf(Buffer.alloc(size, 1));
    const decoder = decoderOf(bytes.length);
    const reserved = vi.spyOn(Buffer, 'allocUnsafeSlow');
    const results = [...bytes].flatMap((byte) => decoder.push(Uint8Array.of(byte)));
    expect(payloadOf(results[0])).toHaveLength(size);
    expect(reserved.mock.calls.length).toBeLessThan(20);
    expect(reserved.mock.calls.at(-1)).toEqual([bytes.length]);
  });

  it('reserves no more than twice the received bytes, whatever length is announced', () => {
    const reserved = vi.spyOn(Buffer, 'allocUnsafeSlow');
    const decoder = decoderOf(300_000_000);
    decoder.push(buffer([0x30, 0xff, 0xff, 0xff, 0x7f, ...new Array(95).fill(0)]));
    expect(reserved.mock.calls).toEqual([[200]]);
  });

  it('does not swallow the packet behind it', () => {
    const decoder = decoderOf(100);
    expect(decoder.push(Uint8Array.of(0xc0))).toEqual([]);
    expect(decoder.push(buffer([0, 0xc0, 0, 0xc0]))).toEqual([{ type: 'pingreq' }, { type: 'pingreq' }]);
    expect(decoder.push(Uint8Array.of(0))).toEqual([{ type: 'pingreq' }]);
    expect(decoder.push(new Uint8Array(0))).toEqual([]);
  });
});
