import { expect, test } from 'vitest';
import { gatherSends } from '../../src/engine/wire/gather-sends.ts';

function setUp() {
  const did: (readonly number[] | 'closed')[] = [];
  const turns: (() => void)[] = [];
  const socket = gatherSends(
    {
      send: (data: ArrayBuffer | ArrayBufferView<ArrayBuffer>) => void did.push([...(data as Uint8Array)]),
      close: () => void did.push('closed'),
    },
    (callback) => turns.push(callback),
  );
  const endTurn = (): void => {
    for (const turn of turns.splice(0)) turn();
  };
  return { socket, did, endTurn };
}

test('the packets of one turn leave in one frame, in their order, as they were then', () => {
  const { socket, did, endTurn } = setUp();
  const buffer = new Uint8Array([1, 2]);
  socket.send(buffer);
  buffer.fill(9);
  socket.send(new Uint8Array([3]).buffer);
  expect(did).toEqual([]);
  endTurn();
  socket.send(new Uint8Array([4]));
  endTurn();
  expect(did).toEqual([[1, 2, 3], [4]]);
});

test('large packets do not wait', () => {
  const { socket, did } = setUp();
  socket.send(new Uint8Array([1]));
  socket.send(new Uint8Array(16 * 1024));
  expect(did.map(({ length }) => length)).toEqual([16 * 1024 + 1]);
});

test('a close loses no packet that was sent before', () => {
  const { socket, did, endTurn } = setUp();
  socket.send(new Uint8Array([1]));
  socket.close();
  endTurn();
  expect(did).toEqual([[1], 'closed']);
});
