import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Flusher, OutboundBuffer } from '../src/outbound-buffer.ts';

/** The frames that a buffer has written, without their headers. */
function buffer(): { readonly buffer: OutboundBuffer; payload(): Buffer } {
  const written: Buffer[] = [];
  const socket = {
    writable: true,
    writableLength: 0,
    write(bytes: Uint8Array) {
      // As a socket does, it keeps the bytes that it is given.
      written.push(bytes as Buffer);
      return true;
    },
  };
  const sender = { wantsRoom: false, written() {} };
  return {
    buffer: new OutboundBuffer(socket as unknown as Socket, new Flusher(), sender),
    payload() {
      const bytes = Buffer.concat(written);
      const code = bytes[1] ?? 0;
      return bytes.subarray(code === 126 ? 4 : code === 127 ? 10 : 2);
    },
  };
}

/** Bytes that no client may see changed by another's. */
function shared(length: number): Buffer {
  return Buffer.alloc(length, 7);
}

function withId(bytes: Buffer, idAt: number, id: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt16BE(id, idAt);
  return copy;
}

test('a packet that recipients share leaves under the identifier of each', () => {
  const packet = shared(20);
  const [one, other] = [buffer(), buffer()];
  one.buffer.push(packet, undefined, 10, 0x0102);
  one.buffer.push(packet, undefined, 10, 0x0304);
  other.buffer.push(packet, undefined, 10, 0x0506);
  one.buffer.push(packet);
  for (const each of [one, other]) each.buffer.flush();
  expect(one.payload()).toEqual(
    Buffer.concat([withId(packet, 10, 0x0102), withId(packet, 10, 0x0304), packet]),
  );
  expect(other.payload()).toEqual(withId(packet, 10, 0x0506));
  expect(packet).toEqual(shared(20));
});

test.each([
  ['that is gathered', 1_000],
  ['that is written by itself, as its topic is long', 40_000],
])('the beginning of a packet %s has it too, in front of a tail', (_, length) => {
  const [head, tail] = [shared(length), shared(30_000)];
  const [one, other] = [buffer(), buffer()];
  one.buffer.push(head, tail, length - 2, 0x0102);
  other.buffer.push(head, tail, length - 2, 0x0304);
  for (const each of [one, other]) each.buffer.flush();
  const expected = (id: number) => Buffer.concat([withId(head, length - 2, id), tail]);
  // A large head has a frame of its own.
  const isWhole = (payload: Buffer, id: number) =>
    payload.subarray(0, length).equals(expected(id).subarray(0, length)) &&
    payload.subarray(-30_000).equals(tail);
  expect(isWhole(one.payload(), 0x0102)).toBe(true);
  expect(isWhole(other.payload(), 0x0304)).toBe(true);
  expect(head).toEqual(shared(length));
});
