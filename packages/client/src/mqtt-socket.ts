import type { SocketFaces } from './socket-faces.ts';

type Listener = (...args: never[]) => void;
type Sent = (error?: Error) => void;

/** The transport's side of the socket that mqtt.js sees. */
export interface SocketEnd {
  readonly readyState: number;
  readonly bufferedAmount: number;
  write(data: ArrayBuffer | ArrayBufferView, sent: Sent): void;
  pause(isPaused: boolean): void;
  close(): void;
  terminate(): void;
}

/** The socket that mqtt.js is given: see `SocketFaces` for why it is two in one. */
export interface MqttSocket {
  readonly CONNECTING: 0;
  readonly OPEN: 1;
  readonly CLOSING: 2;
  readonly CLOSED: 3;
  readonly readyState: number;
  readonly bufferedAmount: number;
  readonly isPaused: boolean;
  /** Set by mqtt.js to `'arraybuffer'`; it gets array buffers in any case. */
  binaryType: string;
  /** The part of a TCP socket that the stream of `ws` uses to learn that everything is written. */
  readonly _socket: {
    readonly _writableState: { readonly finished: boolean };
    once(type: string, listener: Listener): void;
  };
  send(data: ArrayBuffer | ArrayBufferView, sent?: Sent): void;
  /** After DISCONNECT: closes when everything is sent and answered. Otherwise closes at once. */
  close(): void;
  terminate(): void;
  pause(): void;
  resume(): void;
  on(type: string, listener: Listener): void;
  once(type: string, listener: Listener): void;
  off(type: string, listener: Listener): void;
  removeListener(type: string, listener: Listener): void;
  addEventListener(type: string, listener: Listener): void;
  removeEventListener(type: string, listener: Listener): void;
}

export const ReadyState = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 } as const;

export function mqttSocket(faces: SocketFaces, end: SocketEnd): MqttSocket {
  const off = (type: string, listener: Listener): void => faces.remove(type, listener);
  const once = (type: string, listener: Listener): void => faces.add('node', type, listener, true);
  return {
    ...ReadyState,
    binaryType: 'arraybuffer',
    get readyState() {
      return end.readyState;
    },
    get bufferedAmount() {
      return end.bufferedAmount;
    },
    get isPaused() {
      return faces.isPaused;
    },
    _socket: {
      _writableState: {
        get finished() {
          return end.readyState === ReadyState.CLOSED;
        },
      },
      once,
    },
    send: (data, sent = () => {}) => end.write(data, sent),
    close: () => end.close(),
    terminate: () => end.terminate(),
    pause: () => end.pause(true),
    resume: () => end.pause(false),
    on: (type, listener) => faces.add('node', type, listener),
    once,
    off,
    removeListener: off,
    addEventListener: (type, listener) => faces.add('browser', type, listener),
    removeEventListener: off,
  };
}
