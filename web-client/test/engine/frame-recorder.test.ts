import { expect, test } from 'vitest';
import { FrameRecorder } from '../../src/engine/host/frame-recorder.ts';
import type { FrameRow } from '../../src/engine/protocol.ts';
import { readHandshake } from '../../src/engine/wire/frame-tap.ts';

const KEPT = -1;
const UNSENT = -2;

const PUBLISH_A = [0x30, 3, 0, 1, 0x61];
const PUBLISH_B = [0x30, 3, 0, 1, 0x62];
const PUBACK = [0x40, 2, 0, 7];
const PINGREQ = [0xc0, 0];
const PINGRESP = [0xd0, 0];
const CONNECT = [0x10, 13, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 1, 0x61];
const CONNACK = [0x20, 2, 0, 0];
const CONNECT_SUBPROTOCOL = `mqtt-connect.${'A'.repeat(22)}.nudge+close.${Buffer.from(CONNECT).toString('base64url')}`;

function frame(header: string, ...packets: readonly (readonly number[])[]): string {
  return header + Buffer.from(packets.flat()).toString('base64');
}

/** A recorder between a library and a gateway that the test plays. */
function setUp() {
  const rows: Omit<FrameRow, 'offset' | 'length'>[] = [];
  const links: [packetId: number, frame: number][] = [];
  const sink = {
    frame: (row: Omit<FrameRow, 'offset' | 'length'>) => void rows.push(row),
    link: (packetId: number, number: number) => void links.push([packetId, number]),
  };
  const statistics = { pubacksDropped: 0 };
  const recorder = new FrameRecorder(sink, () => 5);
  recorder.watch(statistics as never);
  recorder.begin();
  let id = 0;
  const write = (packet: readonly number[]): number => {
    id += 1;
    recorder.packetOut(id, Uint8Array.from(packet));
    return id;
  };
  const read = (packet: readonly number[]): number => {
    id += 1;
    recorder.packetIn(id, Uint8Array.from(packet));
    return id;
  };
  return { recorder, wire: recorder.listener(), rows, links, statistics, write, read };
}

test('packets that leave together share a frame, and acknowledgements go in front of them', () => {
  const { wire, rows, links, write } = setUp();
  const [a, puback, b] = [write(PUBLISH_A), write(PUBACK), write(PUBLISH_B)];
  wire.frameOut(frame('@0000000000abc.', PUBACK, PUBLISH_A, PUBLISH_B));
  expect(rows).toMatchObject([{ number: 1, isOut: true, kind: 'request', billed: 1, billedAlone: 3 }]);
  expect(links).toEqual([
    [puback, 1],
    [a, 1],
    [b, 1],
  ]);
});

test('each packet that looks like another has the frame of its own turn', () => {
  const { wire, links, write } = setUp();
  const [first, second] = [write(PUBLISH_A), write(PUBLISH_A)];
  wire.frameOut(frame('', PUBLISH_A));
  wire.frameOut(frame(',', PUBLISH_A));
  expect(links).toEqual([
    [first, 1],
    [second, 2],
  ]);
});

test.each([
  ['out', frame('.', PUBLISH_A), { kind: 'request' }],
  ['out', frame(',', PUBLISH_A), { kind: 'one-way' }],
  ['out', '.', { kind: 'fetch' }],
  ['out', '@0000000000abc.', { kind: 'fetch' }],
  ['in', frame('', PUBLISH_A), { kind: 'push' }],
  ['in', frame('@0000000000abc!1*2;', PUBACK), { kind: 'reply', taken: 1, parts: 2, more: true }],
  ['in', ':', { kind: 'reply', taken: undefined, parts: 0, more: false, billed: 1, billedAlone: 0 }],
  ['in', frame('&', PUBLISH_A), { kind: 'part' }],
  ['in', '{"message":"Internal server error"}', { kind: 'error', billed: 1 }],
  ['in', '', { kind: 'nothing', billed: 1 }],
  ['in', '?', { kind: 'nudge' }],
  ['in', '^', { kind: 'unreadable' }],
] as const)('a frame %s, “%s”, is %o', (direction, text, expected) => {
  const { wire, rows } = setUp();
  if (direction === 'out') wire.frameOut(text);
  else wire.frameIn(text);
  expect(rows).toMatchObject([expected]);
});

test.each([
  ['a move', '~ticket.secret', '~next,7200,60:', ['move', 'moved']],
  ['a move that has to wait', '~ticket.secret', '~!later:', ['move', 'not-moved']],
  ['a resume after a loss', '~!ticket.secret', frame('~next,7200,60;', PUBLISH_A), ['resume', 'resumed']],
  ['a resume that is refused', '~!ticket.secret', '~!unknown:', ['resume', 'not-moved']],
] as const)('%s has a name, and so has its answer', (_, asks, answers, kinds) => {
  const { wire, rows } = setUp();
  wire.frameOut(asks);
  wire.frameIn(frame('', PUBLISH_B));
  wire.frameIn(answers);
  wire.frameIn(':');
  expect(rows.map(({ kind }) => kind)).toEqual([kinds[0], 'push', kinds[1], 'reply']);
});

test('a ticket that comes with CONNACK answers no move', () => {
  const { wire, rows } = setUp();
  wire.frameOut(frame('(nudge,move).', CONNECT));
  wire.frameIn(frame('(nudge,move)~ticket,7200,60:', CONNACK));
  expect(rows.map(({ kind }) => kind)).toEqual(['request', 'reply']);
});

test('each frame has a number and is counted, the handshake among them', () => {
  const { recorder, wire, rows } = setUp();
  const handshake = readHandshake([CONNECT_SUBPROTOCOL, 'mqtt-text-v1.1'], 'mqtt-text-v1.1-0');
  if (handshake !== undefined) wire.handshake(handshake);
  wire.frameOut('{"action":"alive"}');
  wire.frameOut('.');
  wire.frameIn(':');
  const { framesSent, framesReceived } = recorder.totals;
  expect(rows.map(({ kind }) => kind)).toEqual(['handshake', 'alive', 'fetch', 'reply']);
  expect(framesSent + framesReceived).toBe(rows.at(-1)?.number);
});

test('a frame is billed once for each 32 KB begun', () => {
  const { wire, rows } = setUp();
  // 32,768 characters, and four more.
  wire.frameIn(frame('', new Array(24_576).fill(0)));
  wire.frameIn(frame('', new Array(24_579).fill(0)));
  expect(rows.map(({ characters, billed }) => [characters, billed])).toEqual([
    [32_768, 1],
    [32_772, 2],
  ]);
});

test('a push that the transport holds back keeps its frame', () => {
  const { wire, links, read } = setUp();
  wire.frameIn(frame('', PUBLISH_A));
  wire.frameIn(frame(':', PUBACK));
  const [puback, a] = [read(PUBACK), read(PUBLISH_A)];
  expect(links).toEqual([
    [puback, 2],
    [a, 1],
  ]);
});

test('a packet that the server has not taken is in the frame that carries it again', () => {
  const { wire, links, write } = setUp();
  const [a, b] = [write(PUBLISH_A), write(PUBLISH_B)];
  wire.frameOut(frame('', PUBLISH_A, PUBLISH_B));
  wire.frameIn('!1:');
  wire.frameOut(frame('', PUBLISH_B));
  expect(links).toEqual([
    [a, 1],
    [b, 1],
    [b, 3],
  ]);
});

test('packets that the transport answers or leaves out itself are in no frame, and counted', () => {
  const { recorder, wire, links, statistics, write, read } = setUp();
  const ping = write(PINGREQ);
  const pong = read(PINGRESP);
  const dropped = write(PUBACK);
  statistics.pubacksDropped = 1;
  recorder.matchDroppedPubacks();
  const sent = write(PUBACK);
  wire.frameOut(frame(',', PUBACK));
  expect(links).toEqual([
    [ping, KEPT],
    [pong, KEPT],
    [dropped, KEPT],
    [sent, 1],
  ]);
  expect(recorder.totals).toMatchObject({ pingsAnswered: 1, pubacksDropped: 1, framesSent: 1, packets: 1 });
});

test('a ping of the transport has a frame, and no packet of the timeline', () => {
  const { wire, links, rows, write, read } = setUp();
  wire.frameOut(frame('', PINGREQ));
  wire.frameIn(frame(':', PINGRESP));
  const a = write(PUBLISH_A);
  wire.frameOut(frame('', PUBLISH_A));
  expect(rows.map(({ kind, billedAlone }) => [kind, billedAlone])).toEqual([
    ['heartbeat', 1],
    ['reply', 1],
    ['request', 1],
  ]);
  const pong = read(PINGRESP);
  expect(links).toEqual([
    [a, 3],
    [pong, KEPT],
  ]);
});

test('packets that have not left when the socket ends never do, nor do those that are too large', () => {
  const { recorder, links, write } = setUp();
  const large = write([0x30, 0xfe, 0xbf, 1, ...new Array<number>(24_574).fill(0)]);
  const waiting = write(PUBLISH_A);
  recorder.begin();
  expect(links).toEqual([
    [large, UNSENT],
    [waiting, UNSENT],
  ]);
});

test('late frames of an abandoned socket are billed, and not taken for packets of the next one', () => {
  const { recorder, wire, links, read } = setUp();
  recorder.begin();
  wire.frameIn(frame('', PUBLISH_A));
  read(PUBLISH_A);
  expect(links).toEqual([]);
  expect(recorder.totals.messagesBilled).toBe(1);
});

test('a CONNECT that the handshake has answered is there with its CONNACK, and not billed', () => {
  const { recorder, wire, rows, links, write, read } = setUp();
  const connect = write(CONNECT);
  const handshake = readHandshake([CONNECT_SUBPROTOCOL, 'mqtt-text-v1.1'], 'mqtt-text-v1.1-0');
  if (handshake !== undefined) wire.handshake(handshake);
  const connack = read(CONNACK);
  expect(rows).toMatchObject([
    { kind: 'handshake', characters: CONNECT_SUBPROTOCOL.length, billed: 0, billedAlone: 2 },
  ]);
  expect(links).toEqual([
    [connect, 1],
    [connack, 1],
  ]);
  expect(recorder.totals).toMatchObject({ framesSent: 1, messagesBilled: 0, packets: 2, billedAlone: 2 });
});

test('a CONNACK that the first reply brings is in that reply', () => {
  const { wire, rows, links, write, read } = setUp();
  const connect = write(CONNECT);
  const handshake = readHandshake([CONNECT_SUBPROTOCOL, 'mqtt-text-v1.1'], 'mqtt-text-v1.1-1');
  if (handshake !== undefined) wire.handshake(handshake);
  wire.frameIn(frame('(nudge):', CONNACK));
  const connack = read(CONNACK);
  expect(rows).toMatchObject([{ kind: 'handshake', billedAlone: 1 }, { kind: 'reply' }]);
  expect(links).toEqual([
    [connect, 1],
    [connack, 2],
  ]);
});

test.each([
  ['a server that wants a frame', [CONNECT_SUBPROTOCOL, 'mqtt-text-v1.1'], 'mqtt-text-v1.1'],
  ['a client that has offered no CONNECT', ['mqtt-text-v1.1'], 'mqtt-text-v1.1-0'],
] as const)('%s has handled no CONNECT in the handshake', (_, offered, chosen) => {
  expect(readHandshake(offered, chosen)).toBeUndefined();
});
