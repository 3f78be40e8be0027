import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { systemClock, TURN_MS_MAX } from '@apus/broker';
import { systemScheduler } from '@apus/door';
import { describe, expect, test } from 'vitest';
import { BytesBudget, type BytesHolder } from '../src/bytes-budget.ts';
import { Flusher, OutboundBuffer } from '../src/outbound-buffer.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';

const OUTBOUND_BYTES_MAX = 1024 * 1024;

/** What the buffers of a node share. */
function context(
  flusher = new Flusher(systemClock),
  bytesMax = OUTBOUND_BYTES_MAX,
  holders: BytesHolder[] = [],
) {
  return {
    limits: { outboundBufferBytesMax: OUTBOUND_BYTES_MAX },
    flusher,
    outboundBudget: new BytesBudget(bytesMax, () => holders, systemClock),
    scheduler: systemScheduler,
  };
}

/** The frames that a buffer has written, without their headers. */
function buffer(
  flusher = new Flusher(systemClock),
  onWrite = () => {},
): { readonly buffer: OutboundBuffer; payload(): Buffer } {
  const written: Buffer[] = [];
  const socket = {
    writable: true,
    writableLength: 0,
    write(bytes: Uint8Array) {
      // As a socket does, it keeps the bytes that it is given.
      written.push(bytes as Buffer);
      onWrite();
      return true;
    },
  };
  const sender = { wantsRoom: false, written() {}, overflowed() {} };
  return {
    buffer: new OutboundBuffer(socket as unknown as Socket, context(flusher), sender, 'websocket'),
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

test.each([1_000, 300_000])(
  'packets of %i bytes for many clients leave in turns, and those of a client in their order [SEC-WORK-9]',
  async (length) => {
    const clock = new FakeScheduler();
    const flusher = new Flusher(clock);
    const [packet, next] = [Buffer.alloc(length, 7), Buffer.alloc(length, 8)];
    const clients = Array.from({ length: 6 }, () => buffer(flusher, () => clock.spend(TURN_MS_MAX / 2)));
    for (const client of clients) client.buffer.push(packet);
    const count = () => clients.filter((client) => client.buffer.bufferedBytes === 0).length;
    expect(count()).toBe(0);
    await setImmediate();
    expect([1, 2]).toContain(count());
    for (const client of clients) client.buffer.push(next);
    while (count() < clients.length) await setImmediate();
    for (const client of clients.slice(2)) expect(client.payload()).toEqual(Buffer.concat([packet, next]));
  },
);

describe('what all clients together have not read', () => {
  /** Clients that read nothing until `read`, and how many bytes the node holds for each. */
  function unread(count: number, bytesMax: number) {
    const holders: BytesHolder[] = [];
    const all = context(new Flusher(systemClock), bytesMax, holders);
    const cut: number[] = [];
    const clients = Array.from({ length: count }, (_, index) => {
      const socket = {
        ...{ writable: true, destroyed: false, writableLength: 0 },
        onRead: () => {},
        write(bytes: Uint8Array, taken?: () => void) {
          socket.writableLength += bytes.length;
          if (taken !== undefined) socket.onRead = taken;
          return false;
        },
      };
      const sender = {
        ...{ wantsRoom: true, written() {} },
        overflowed: () => {
          socket.destroyed = true;
          cut.push(index);
        },
      };
      const buffer = new OutboundBuffer(socket as unknown as Socket, all, sender, 'websocket');
      holders.push(buffer);
      return {
        buffer,
        send(bytes: number) {
          buffer.push(shared(bytes));
          buffer.flush();
        },
        read() {
          socket.writableLength = 0;
          socket.onRead();
        },
      };
    });
    return { clients, cut, held: () => holders.reduce((sum, { heldBytes }) => sum + heldBytes, 0) };
  }
  test('[SEC-MEMORY-9] stays within its budget: each may leave less unread while others fill it, and nobody is cut', () => {
    const bytesMax = 4 * 1024 * 1024;
    const { clients, cut, held } = unread(12, bytesMax);
    for (const { buffer, send } of clients) {
      // As the broker does: while there is room, another packet.
      for (let left = 1_000; left > 0 && buffer.roomBytes > 0; left -= 1) send(1_000);
    }
    expect(cut).toEqual([]);
    expect(held()).toBeGreaterThan(bytesMax / 2);
    expect(held()).toBeLessThan(bytesMax);
    const last = clients.at(-1);
    last?.read();
    // So much is everybody's, whatever others hold.
    expect(last?.buffer.roomBytes).toBeGreaterThanOrEqual(16 * 1024);
    for (const { read } of clients) read();
    expect([held(), last?.buffer.roomBytes]).toEqual([0, OUTBOUND_BYTES_MAX]);
  });

  test('[SEC-MEMORY-9] stays within its budget with any number of clients: those give way that have left most unread', () => {
    const { clients, cut, held } = unread(1_000, 1_000_000);
    for (const { buffer, send } of clients)
      for (let left = 1_000; left > 0 && buffer.roomBytes > 0; left -= 1) send(1_000);
    expect(held()).toBeLessThanOrEqual(1_000_000);
    expect(cut.length).toBeGreaterThan(900);
    expect(cut).not.toContain(999);
  });

  test('[SEC-MEMORY-9] ends those that have left most unread where large packets exceed it', () => {
    const { clients, cut, held } = unread(10, 1_000_000);
    for (const [index, { send }] of clients.entries()) send(100_000 + index);
    expect(cut).toEqual([9, 8]);
    expect(held()).toBeLessThan(1_000_000);
  });

  test('and what an ended connection held is free', () => {
    const { clients, held } = unread(2, 1_000_000);
    clients[0]?.send(500_000);
    expect(held()).toBeGreaterThan(500_000);
    clients[0]?.buffer.end();
    expect(held()).toBe(0);
    expect(clients[1]?.buffer.roomBytes).toBe(250_000);
  });
});
