import { once } from 'node:events';
import { createConnection, Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Frame, frameBytes } from '../support/client-frame.ts';
import { HANDSHAKE } from '../support/handshake-text.ts';
import { nodeForTest } from '../support/nodes.ts';

/** Sends frames behind a handshake, in the same bytes, and returns the frames of the server until it has gone. */
async function answersTo(frames: readonly (Frame | Buffer)[], closeTimeoutSeconds = 5): Promise<Buffer> {
  const node = await nodeForTest({ closeTimeoutSeconds });
  const socket = createConnection(node.port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const bytes = frames.map((frame) => (Buffer.isBuffer(frame) ? frame : frameBytes(frame)));
  socket.write(Buffer.concat([Buffer.from(HANDSHAKE), ...bytes]));
  await once(socket, 'close');
  const all = Buffer.concat(chunks);
  return all.subarray(all.indexOf('\r\n\r\n') + 4);
}

const close = (...payload: (number | string)[]): Frame => ({
  opcode: 8,
  payload: Buffer.concat(
    payload.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.of(part >> 8, part & 255),
    ),
  ),
});

/** The code of a close frame, and its reason. */
function closeOf(frame: Buffer): readonly [code: number | undefined, reason: string] {
  expect(frame[0]).toBe(0x88);
  expect(frame.length).toBe(2 + (frame[1] ?? 0));
  return [frame.length > 2 ? frame.readUInt16BE(2) : undefined, frame.toString('utf8', 4)];
}

describe('a close of the client', () => {
  test.each([1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999])(
    'with %d is answered with the same (Autobahn 7.7)',
    async (code) => {
      expect(closeOf(await answersTo([close(code, 'bye')]))[0]).toBe(code);
    },
  );

  test.each([0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535])(
    'with %d, which may not be sent, is answered with 1002 (Autobahn 7.9, 7.13)',
    async (code) => {
      expect(closeOf(await answersTo([close(code)]))[0]).toBe(1002);
    },
  );

  test('ends the connection once: Node.js makes an error with a stack of a second end', async () => {
    const end = vi.spyOn(Socket.prototype, 'end');
    onTestFinished(() => end.mockRestore());
    await answersTo([close(1000)]);
    const sockets = new Set(end.mock.contexts as Socket[]);
    await expect.poll(() => [...sockets].every(({ closed }) => closed)).toBe(true);
    expect(sockets.size).toBe(2);
    expect(end.mock.calls.length).toBe(2);
  });

  test('without a code is answered without one, with half a code by 1002 (Autobahn 7.3.1, 7.3.2)', async () => {
    expect(closeOf(await answersTo([close()]))).toEqual([undefined, '']);
    expect(closeOf(await answersTo([close('x')]))[0]).toBe(1002);
  });

  test('with a reason that is no UTF-8 is answered with 1007 (Autobahn 7.5.1)', async () => {
    expect(closeOf(await answersTo([close(1000, '\xce\xba\xe1\xbd\xb9\xed\xa0\x80')]))[0]).toBe(1007);
  });

  test('ends what is read: no frame behind it is answered (Autobahn 7.1)', async () => {
    const ping = { opcode: 9, payload: Buffer.from('late') };
    expect(closeOf(await answersTo([close(1000), ping, close(1001)]))[0]).toBe(1000);
  });
});

test('a ping is answered with its payload, a pong with nothing (Autobahn 2.1 to 2.9)', async () => {
  const ping = { opcode: 9, payload: Buffer.from('payload') };
  const answers = await answersTo([ping, { opcode: 10, payload: Buffer.from('x') }, close()]);
  expect(answers.toString('latin1')).toBe('\x8a\x07payload\x88\x00');
});

test('of the pings that come at once 32 are answered [SEC-WORK-3]', async () => {
  const pings = Array.from({ length: 40 }, (_, index) => ({ opcode: 9, payload: Buffer.of(index) }));
  const answers = await answersTo([...pings, close()]);
  const pongs = Array.from({ length: 32 }, (_, index) => Buffer.of(0x8a, 1, index));
  expect(answers).toEqual(Buffer.concat([...pongs, Buffer.of(0x88, 0)]));
});

test('pings and empty frames without a CONNECT end the connection with 1008 [SEC-WORK-3]', async () => {
  for (const frame of [
    { opcode: 9, payload: Buffer.alloc(100) },
    { opcode: 2, payload: Buffer.alloc(0) },
  ]) {
    const size = frameBytes(frame).length;
    const answers = await answersTo(Array(Math.ceil(16_385 / size)).fill(frame), 0.2);
    expect(closeOf(answers.subarray(answers.indexOf(0x88)))[0]).toBe(1008);
  }
});

test('a violation of RFC 6455 is answered by a close frame, and a client that stays is cut off', async () => {
  const [code, reason] = closeOf(
    await answersTo([{ opcode: 2, payload: Buffer.from('x'), isMasked: false }], 0.2),
  );
  expect(code).toBe(1002);
  expect(reason).toBe('The frames of a client are masked');
});

test('a client that ends its connection in the middle of a frame is gone', async () => {
  const node = await nodeForTest();
  const socket = createConnection(node.port, '127.0.0.1');
  socket.resume();
  const half = frameBytes({ opcode: 2, payload: Buffer.alloc(100) }).subarray(0, 50);
  socket.end(Buffer.concat([Buffer.from(HANDSHAKE), half]));
  await once(socket, 'close');
});

test.each([
  ['another version', /version: 13/gi, 'Version: 8', 426],
  ['a key of other than 16 bytes', 'dGhlIHNhbXBsZSBub25jZQ==', 'c2hvcnQ=', 400],
  ['another protocol', 'Upgrade: websocket', 'Upgrade: h2c', 400],
])('a handshake with %s is refused', async (_what, wanted, instead, status) => {
  const node = await nodeForTest();
  const socket = createConnection(node.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  socket.write(HANDSHAKE.replace(wanted, instead));
  await once(socket, 'close');
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});
