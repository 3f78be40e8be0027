import type { MqttModule, WebSocketClass } from '@apus/client';
import type { TappedSocket } from '../wire/tap.ts';
import type { Later } from './batcher.ts';
import type { KeptStore } from './kept-store.ts';

/** A WebSocket as the detection of doors needs it. */
export interface ProbeSocket extends TappedSocket {
  readonly protocol: string;
  close(): void;
}

/** The environment of the engine's host: a worker's globals, or a test's. */
export interface HostEnvironment {
  readonly mqtt: MqttModule;
  /** `WebSocket` of the platform. */
  readonly WebSocket: WebSocketClass;
  openSocket(url: string, subprotocols: readonly string[]): ProbeSocket;
  /** Milliseconds since 1970, with a fraction where there is one. */
  now(): number;
  readonly later: Later;
  /** Undefined where messages do not stay. */
  readonly kept?: KeptStore;
}
