import type { MqttModule, WebSocketClass } from '@apus/client';
import type { TappedSocket } from '../wire/tap.ts';
import type { Later } from './batcher.ts';
import type { KeptStore } from './kept-store.ts';

/** The part of a WebSocket that is needed to detect the door. */
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
  /** Milliseconds since 1970, with a fraction if available. */
  now(): number;
  readonly later: Later;
  /** Undefined if messages are not kept. */
  readonly kept?: KeptStore;
}
