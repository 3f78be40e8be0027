import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { NodeLimits } from './limits.ts';
import { foreignToHttp } from './listening/foreign-protocol.ts';
import { type HandshakeHead, readHandshake } from './web-socket/read-handshake.ts';
import { letGo, own, type SocketOwner } from './web-socket/socket-owner.ts';

export type HandshakeLimits = Pick<NodeLimits, 'handshakeTimeoutSeconds' | 'handshakeBytesMax'>;

export interface PlainHandshakeHandler {
  take(request: HandshakeHead, socket: Socket, head: Buffer): void;
  /** The client speaks another protocol. */
  refuse(socket: Socket, reason: string): void;
}

/** The owner of a socket between its handshake and its answer. */
const NO_OWNER: SocketOwner = { received() {}, ended() {}, closed() {} };

/**
 * Reads the first bytes of each connection of an HTTP server. A plain handshake is handled here, without the parser
 * and the objects of `http`; any other connection goes to `http` with these bytes, unread.
 */
export class PlainHandshakes implements SocketOwner {
  readonly #server: Server;
  readonly #limits: HandshakeLimits;
  readonly #handler: PlainHandshakeHandler;
  readonly #toHttp: readonly ((socket: Socket) => void)[];
  /** Connections that have sent nothing, oldest first, and since when, in ms. */
  readonly #silent = new Map<Socket, number>();
  readonly #timeoutMs: number;
  readonly #check: NodeJS.Timeout;

  constructor(server: Server, limits: HandshakeLimits, handler: PlainHandshakeHandler) {
    this.#server = server;
    this.#limits = limits;
    this.#handler = handler;
    this.#toHttp = server.listeners('connection') as ((socket: Socket) => void)[];
    this.#timeoutMs = limits.handshakeTimeoutSeconds * 1000;
    this.#check = setInterval(() => this.#endSilent(), Math.max(this.#timeoutMs / 4, 100)).unref();
    server.removeAllListeners('connection');
    server.on('connection', (socket) => {
      this.#silent.set(socket, performance.now());
      own(socket, this);
    });
  }

  /** Ends the connections that have sent nothing. */
  stop(): void {
    clearInterval(this.#check);
    for (const socket of this.#silent.keys()) socket.destroy();
  }

  received(chunk: Buffer, socket: Socket): void {
    this.#silent.delete(socket);
    const foreign = foreignToHttp(chunk);
    if (foreign !== undefined) {
      own(socket, NO_OWNER);
      this.#handler.refuse(socket, foreign);
      return;
    }
    const read = readHandshake(chunk, this.#limits.handshakeBytesMax);
    if (read === undefined) {
      letGo(socket);
      for (const connected of this.#toHttp) connected.call(this.#server, socket);
      socket.emit('data', chunk);
      return;
    }
    own(socket, NO_OWNER);
    const { url, headers, end } = read;
    this.#handler.take(
      { method: 'GET', url, httpVersion: '1.1', headers, socket },
      socket,
      chunk.subarray(end),
    );
  }

  ended(socket: Socket): void {
    socket.destroy();
  }

  closed(socket: Socket): void {
    this.#silent.delete(socket);
  }

  /** [SEC-MEMORY-6] */
  #endSilent(): void {
    const before = performance.now() - this.#timeoutMs;
    for (const [socket, sinceMs] of this.#silent) {
      if (sinceMs > before) return;
      socket.destroy();
    }
  }
}
