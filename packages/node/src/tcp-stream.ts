import type { Socket } from 'node:net';
import type { Scheduler } from '@apus/door';
import { foreignToTcp } from './listening/foreign-protocol.ts';
import type { Transport, TransportHandler } from './transport.ts';
import { letGo, own, type SocketOwner } from './web-socket/socket-owner.ts';

export interface TcpStreamOptions {
  /** The time for the client to go after its connection was closed. */
  readonly closeTimeoutMs: number;
  readonly scheduler: Scheduler;
  /** The client speaks another protocol: answers it, and ends the connection. */
  readonly refuseForeign: (socket: Socket, reason: string) => void;
}

/** MQTT over TCP or TLS [MQTT-4.2.0-1]: the bytes of the socket are those of the packets. */
export class TcpStream implements Transport, SocketOwner {
  readonly wire = 'tcp';
  readonly socket: Socket;
  readonly #options: TcpStreamOptions;
  readonly #handler: TransportHandler;
  #hasBegun = false;
  #isOpen = true;
  #cancelCut: (() => void) | undefined;
  /** Copies of everything that was read, while the socket may be released. */
  #read: Buffer[] | undefined;

  /** @param isReleasable the socket may be released before anything is sent */
  constructor(socket: Socket, options: TcpStreamOptions, handler: TransportHandler, isReleasable = false) {
    this.socket = socket;
    this.#options = options;
    this.#handler = handler;
    if (isReleasable) this.#read = [];
    own(socket, this);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  begin(head: Uint8Array): void {
    if (head.length > 0) this.received(head);
  }

  keep(): void {
    this.#read = undefined;
  }

  release(): { readonly socket: Socket; readonly read: readonly Buffer[] } {
    const read = this.#read ?? [];
    this.#isOpen = false;
    this.#read = undefined;
    letGo(this.socket);
    return { socket: this.socket, read };
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.socket.end();
    const { scheduler, closeTimeoutMs } = this.#options;
    this.#cancelCut = scheduler.after(closeTimeoutMs, () => this.socket.destroy());
  }

  terminate(): void {
    this.#isOpen = false;
    this.socket.destroy();
  }

  received(chunk: Uint8Array): void {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      const reason = foreignToTcp(chunk);
      if (reason !== undefined) {
        this.#isOpen = false;
        this.#options.refuseForeign(this.socket, reason);
        return;
      }
    }
    this.#read?.push(Buffer.from(chunk));
    this.#handler.received(chunk, 0, chunk.length);
    this.#handler.arrived(chunk.length);
  }

  /** The client sends no more, so the server ends too. */
  ended(): void {
    this.#isOpen = false;
    if (!this.socket.writableEnded) this.socket.end();
  }

  closed(): void {
    this.#isOpen = false;
    this.#cancelCut?.();
    this.#handler.closed('the client has closed the connection');
  }
}
