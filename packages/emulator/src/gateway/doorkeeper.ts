import type { Socket } from 'node:net';

/** Decides who gets the places of the door, where real clients come: API Gateway has a service before it. */
export interface Doorkeeper {
  /** A client has opened a TCP connection. The doorkeeper may destroy it, or another one. */
  arrive(socket: Socket): void;
  /** The client takes so many handshakes that it has to leave half of their rate to others. */
  isEager(address: string): boolean;
  /**
   * A handshake takes a place. False: it is refused with 503.
   *
   * @param connections that there are
   */
  take(connectionId: string, socket: Socket, address: string, connections: number): boolean;
  /** A request over this socket was signed by a caller that is known. */
  know(socket: Socket): void;
}
