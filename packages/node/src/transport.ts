import type { Socket } from 'node:net';

/** The carrier of the bytes of MQTT to and from a client: a WebSocket, or a TCP connection as it is. */
export type Wire = 'websocket' | 'tcp';

/** One process of a cluster passes this on to another: a client's connection, or a request of an HTTP link. */
export type ForwardedWire = Wire | 'http';

export interface TransportHandler {
  /** So many bytes were read and handled, frames and control frames included. */
  arrived(bytes: number): void;
  /** Bytes of MQTT, in any pieces. They may be overwritten after the call. */
  received(bytes: Uint8Array, start: number, end: number): void;
  /** The network connection is gone. Called once. */
  closed(why: string): void;
}

/** A client's connection, below MQTT. */
export interface Transport {
  readonly wire: Wire;
  readonly socket: Socket;
  /** No close was sent or received. */
  readonly isOpen: boolean;
  /** Handles bytes that were read before the transport was made. */
  begin(head: Uint8Array): void;
  /** The socket is not going to be released. */
  keep(): void;
  /** Gives the socket to the caller, with everything that was read from it, and reports nothing of it any more. */
  release(): { readonly socket: Socket; readonly read: readonly Buffer[] };
  pause(): void;
  resume(): void;
  /** Ends the connection once what was written has left. @param code of a WebSocket */
  close(code: number, reason: string): void;
  /** Cuts the connection. */
  terminate(): void;
}
