import { expect, test } from 'vitest';
import { BoundedFrameLog, type FrameFields } from '../../../src/engine/log/frame-log.ts';
import { BoundedPacketLog } from '../../../src/engine/log/packet-log.ts';
import { packetsText, type WireFilter, WireRows } from '../../../src/features/wire/wire-rows.ts';

const ALL: WireFilter = { hidesDelivery: false, hidesPings: false, hidesEmptyFrames: false };

const [CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, PINGREQ] = [0x10, 0x20, 0x30, 0x40, 0x82, 0xc0].map(
  (first) => Uint8Array.of(first, 0),
) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];

const never = (): void => {};

function frame(
  number: number,
  atMs: number,
  packets: readonly Uint8Array[],
  changes: object = {},
): FrameFields {
  return {
    number,
    atMs,
    packets,
    direction: 'out',
    kind: 'request',
    characters: 3,
    billed: 1,
    billedAlone: packets.length,
    taken: undefined,
    parts: 0,
    more: false,
    byteLength: 3,
    ...changes,
  };
}

/** A timeline: each packet's time, its bytes, and its frame. */
function logOf(...packets: readonly (readonly [atMs: number, bytes: Uint8Array, frame?: number | 'kept'])[]) {
  const log = new BoundedPacketLog(undefined, never);
  log.append(packets.map(([atMs, bytes], id) => ({ id, atMs, bytes, direction: 'out' })));
  for (const [id, [, , number]] of packets.entries()) if (number !== undefined) log.link(id, number);
  return log;
}

function framesOf(...frames: readonly FrameFields[]) {
  const log = new BoundedFrameLog(undefined, never);
  log.append(frames);
  return log;
}

const keysOf = (rows: WireRows): readonly string[] => rows.now().map(({ key }) => key);

test('at the node door each packet is a row, newest first by its time', () => {
  const rows = new WireRows(logOf([1, CONNECT], [5, PUBACK], [4, PUBLISH]), undefined, ALL);
  expect(rows.now().map(({ atMs }) => atMs)).toEqual([5, 4, 1]);
});

test('at the gateway door the packets of a frame follow it, and packets without one stand between', () => {
  const packets = logOf(
    [1, CONNECT, 1],
    [2, CONNACK, 1],
    [3, PINGREQ, 'kept'],
    [4, SUBSCRIBE, 2],
    [4, PUBLISH, 2],
  );
  const frames = framesOf(
    frame(1, 1, [CONNECT], { kind: 'handshake' }),
    frame(2, 4, [SUBSCRIBE, PUBLISH]),
    frame(3, 5, [], { kind: 'reply' }),
  );
  expect(keysOf(new WireRows(packets, frames, ALL))).toEqual([
    'f3',
    'f2',
    'f2.0',
    'f2.1',
    'p2',
    'p1',
    'f1',
    'f1.0',
  ]);
});

test('a frame goes with the last of its packets that is shown', () => {
  const frames = framesOf(frame(1, 1, [PUBLISH]), frame(2, 2, [PUBLISH, SUBSCRIBE]), frame(3, 3, []));
  const rowsOf = (filter: Partial<WireFilter>) =>
    keysOf(new WireRows(logOf(), frames, { ...ALL, ...filter }));
  expect(rowsOf({ hidesDelivery: true })).toEqual(['f3', 'f2', 'f2.1']);
  expect(rowsOf({ hidesEmptyFrames: true })).toEqual(['f2', 'f2.0', 'f2.1', 'f1', 'f1.0']);
});

test('a row is the same one until its packet gets a frame', () => {
  const packets = logOf([1, PUBLISH]);
  const rows = new WireRows(packets, framesOf(), ALL);
  const [first] = rows.now();
  packets.append([{ id: 7, atMs: 2, bytes: PUBACK, direction: 'in' }]);
  expect(rows.now().at(-1)).toBe(first);
  packets.link(0, 'kept');
  expect(rows.now().at(-1)).toMatchObject({ key: first?.key, frameOf: 'kept' });
});

test('a frame of thousands of packets lists two hundred', () => {
  const frames = framesOf(
    frame(
      1,
      1,
      Array.from({ length: 3_000 }, () => PUBACK),
    ),
  );
  expect(new WireRows(logOf(), frames, ALL).now()).toHaveLength(201);
});

test('packets are counted by their type, in the order in which the types first come', () => {
  expect(packetsText([PUBACK, PUBLISH, PUBLISH, CONNECT])).toBe('PUBACK, 2 × PUBLISH, CONNECT');
  expect(packetsText([])).toBe('');
});
