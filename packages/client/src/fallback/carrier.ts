import type { Timers } from '../environment.ts';
import { newSocket, type WebSocketClass } from '../web-socket.ts';

export type Wire = 'websocket' | 'http';

/** A WebSocket, or the requests that stand in for one. */
export interface Carrier {
  readonly wire: Wire;
  readonly bufferedAmount: number;
  /** @param sent called when there is room for more */
  send(bytes: Uint8Array, sent: () => void): void;
  pause(isPaused: boolean): void;
  /** Closes once everything is sent. */
  close(): void;
  /** Ends at once. */
  terminate(): void;
}

export interface CarrierHandler {
  opened(carrier: Carrier): void;
  received(bytes: Uint8Array): void;
  /** Called once, also for a carrier that never opened. */
  closed(code: number, reason: string): void;
}

/** Above it the carrier asks for no more bytes. */
export const BUFFERED_BYTES_HIGH = 64 * 1024;

const LOOK_MS = 25;
const NORMAL = 1000;

/** The members beside those that all WebSocket classes share. */
interface BinarySocket {
  binaryType: string;
  send(bytes: Uint8Array): void;
  pause?(): void;
  resume?(): void;
}

/** @throws what the class throws, as for a bad URL */
export function webSocketCarrier(
  WebSocket: WebSocketClass,
  url: string,
  protocols: readonly string[],
  options: object | undefined,
  timers: Timers,
  handler: CarrierHandler,
): Carrier {
  const socket = newSocket(WebSocket, url, [...protocols], options);
  const binary = socket as unknown as BinarySocket;
  binary.binaryType = 'arraybuffer';
  const carrier: Carrier = {
    wire: 'websocket',
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send(bytes, sent) {
      binary.send(bytes);
      const look = (): unknown =>
        socket.bufferedAmount <= BUFFERED_BYTES_HIGH ? sent() : timers.setTimeout(look, LOOK_MS);
      look();
    },
    pause: (isPaused) => (isPaused ? binary.pause?.() : binary.resume?.()),
    close: () => socket.close(NORMAL),
    terminate: () => (socket.terminate === undefined ? socket.close() : socket.terminate()),
  };
  let error = '';
  socket.addEventListener('open', () => handler.opened(carrier));
  socket.addEventListener('message', ({ data }) => handler.received(new Uint8Array(data as ArrayBuffer)));
  socket.addEventListener('error', (event) => {
    if (event.error instanceof Error) error = event.error.message;
  });
  socket.addEventListener('close', ({ code, reason }) => handler.closed(code, reason || error));
  return carrier;
}
