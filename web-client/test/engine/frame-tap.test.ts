import { expect, test } from 'vitest';
import { tapFrames } from '../../src/engine/wire/frame-tap.ts';

test('tells of text frames, and passes binary messages on', () => {
  const sent: (string | Uint8Array)[] = [];
  class FakeSocket {
    readonly protocol = 'mqtt';
    readonly bufferedAmount = 0;
    addEventListener(): void {}
    send(data: string | Uint8Array): void {
      sent.push(data);
    }
    close(): void {}
  }
  const told: string[] = [];
  const listener = {
    handshake: () => {},
    frameOut: (text: string) => void told.push(text),
    frameIn: () => {},
  };
  const Tapped = tapFrames(FakeSocket, () => listener) as unknown as new (url: string) => FakeSocket;
  const socket = new Tapped('ws://broker.example/mqtt');
  const packet = Uint8Array.of(0xc0, 0);
  socket.send('wAA=');
  socket.send(packet);
  expect(sent).toEqual(['wAA=', packet]);
  expect(told).toEqual(['wAA=']);
});
