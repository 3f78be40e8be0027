import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameMeter } from '../../src/gateway/frame-meter.ts';
import { Client, start } from '../support.ts';

const FRAME = 32_768;
const MESSAGE = 131_072;

test('a binary frame closes with 1003', async () => {
  const emulator = await start();
  const client = await Client.open(emulator.url);
  client.socket.send(Buffer.from('hello'));
  expect(await client.closed).toMatchObject({ code: 1003 });
  expect(emulator.counters.snapshot().messages.in.count).toBe(0);
});

test('a frame of 32,768 bytes passes, one byte more closes with 1009', async () => {
  const emulator = await start({
    default: async (event) => ({ statusCode: 200, body: String(event.body.length) }),
  });
  const client = await Client.open(emulator.url);
  client.send('x'.repeat(FRAME));
  expect(await client.next()).toBe(String(FRAME));
  client.send('x'.repeat(FRAME + 1));
  expect(await client.closed).toMatchObject({ code: 1009 });
  await emulator.quiet();
  expect(emulator.counters.snapshot().messages.in.count).toBe(1);
});

test('the limit counts bytes, not characters', async () => {
  const emulator = await start();
  const client = await Client.open(emulator.url);
  client.send('é'.repeat(FRAME / 2 + 1));
  expect(await client.closed).toMatchObject({ code: 1009 });
});

test('a message of 128 KB in frames of 32 KB passes', async () => {
  const emulator = await start({
    default: async (event) => ({ statusCode: 200, body: String(event.body.length) }),
  });
  const client = await Client.open(emulator.url);
  sendInFrames(client, [FRAME, FRAME, FRAME, FRAME]);
  expect(await client.next()).toBe(String(MESSAGE));
  expect(emulator.counters.snapshot().messages.in).toEqual({ count: 1, billed: 4, bytes: MESSAGE });
});

test('a message of one byte more closes with 1009', async () => {
  const emulator = await start();
  const client = await Client.open(emulator.url);
  sendInFrames(client, [FRAME, FRAME, FRAME, FRAME, 1]);
  expect(await client.closed).toMatchObject({ code: 1009 });
});

test('a frame over 32 KB inside a fragmented message closes with 1009', async () => {
  const emulator = await start();
  const client = await Client.open(emulator.url);
  sendInFrames(client, [10, FRAME + 1, 10]);
  expect(await client.closed).toMatchObject({ code: 1009 });
});

test('a message over 128 KB in one frame closes with 1009', async () => {
  const emulator = await start();
  const client = await Client.open(emulator.url);
  client.send('x'.repeat(MESSAGE + 1));
  expect(await client.closed).toMatchObject({ code: 1009 });
});

test('the end by a frame too large is reported to $disconnect', async () => {
  const codes: number[] = [];
  const emulator = await start({
    async disconnect(event) {
      codes.push(event.requestContext.disconnectStatusCode);
    },
  });
  for (const sizes of [[FRAME + 1], [FRAME, FRAME, FRAME, FRAME, 1]]) {
    const client = await Client.open(emulator.url);
    sendInFrames(client, sizes);
    await client.closed;
    await emulator.quiet();
  }
  expect(codes).toEqual([1009, 1009]);
});

test('more fragments than allowed close with 1008', async () => {
  const emulator = await start({}, { limits: { fragmentsPerMessageMax: 3 } });
  const client = await Client.open(emulator.url);
  sendInFrames(client, [1, 1, 1, 1]);
  expect(await client.closed).toMatchObject({ code: 1008 });
});

test('[SEC-MEMORY-2] messages that never end are cut, the first of them first, where all together take too much', async () => {
  const emulator = await start(
    { default: async () => ({ statusCode: 200, body: 'whole' }) },
    {
      limits: { unfinishedBytesMax: 4 * FRAME },
    },
  );
  const attackers = [];
  for (let index = 0; index < 3; index += 1) {
    const attacker = await Client.open(emulator.url);
    attacker.socket.send('x'.repeat(FRAME), { fin: false });
    attacker.socket.ping();
    await new Promise((resolve) => attacker.socket.once('pong', resolve));
    attackers.push(attacker);
  }
  const honest = await Client.open(emulator.url);
  sendInFrames(honest, [FRAME, FRAME, FRAME]);
  expect(await honest.next()).toBe('whole');
  expect(await attackers[0]?.closed).toMatchObject({ code: 1008 });
  expect(attackers[2]?.socket.readyState).toBe(attackers[2]?.socket.OPEN);
  // A whole message does not count, however long it was.
  for (let round = 0; round < 5; round += 1) {
    sendInFrames(honest, [FRAME, FRAME]);
    expect(await honest.next()).toBe('whole');
  }
  expect(attackers[2]?.socket.readyState).toBe(attackers[2]?.socket.OPEN);
});

test('text that is not UTF-8 closes with 1007', async () => {
  const emulator = await start();
  const client = await Client.open(emulator.url);
  client.socket.send(Buffer.from([0xff]), { binary: false });
  expect(await client.closed).toMatchObject({ code: 1007 });
});

test('the meter finds the first frame too large, however the bytes are cut', () => {
  const frame = fc.record({ bytes: fc.integer({ min: 0, max: 70_000 }), control: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 40_000 })),
      (frames, cuts) => {
        const sizes = frames.map(({ bytes, control }) => (control ? bytes % 126 : bytes));
        const wire = Buffer.concat(frames.map(({ control }, index) => encode(sizes[index] ?? 0, control)));
        let found = 0;
        const meter = new FrameMeter(FRAME, () => {
          found += 1;
        });
        let at = 0;
        for (const cut of [...cuts, wire.length]) {
          meter.push(wire.subarray(at, at + cut));
          at += cut;
        }
        expect(found).toBe(sizes.filter((size) => size > FRAME).length);
      },
    ),
    { numRuns: 200 },
  );
});

/** A frame as a client masks it, with a payload that looks like headers. */
function encode(bytes: number, control: boolean): Buffer {
  const first = control ? 0x89 : 0x81;
  const payload = Buffer.alloc(4 + bytes, 0xff);
  if (bytes < 126) return Buffer.concat([Buffer.from([first, 0x80 | bytes]), payload]);
  const header = Buffer.alloc(bytes < 65_536 ? 4 : 10);
  header.writeUInt8(first, 0);
  header.writeUInt8(0x80 | (header.length === 4 ? 126 : 127), 1);
  header.writeUIntBE(bytes, header.length === 4 ? 2 : 6, header.length === 4 ? 2 : 4);
  return Buffer.concat([header, payload]);
}

function sendInFrames(client: Client, sizes: readonly number[]): void {
  for (const [index, size] of sizes.entries()) {
    client.socket.send('x'.repeat(size), { fin: index === sizes.length - 1 });
  }
}
