import type { Duplex } from 'node:stream';
import type { ClusterNode, ForwardedClient } from '@apus/node';
import type { Bus } from './bus.ts';
import type { Frame, TunnelId } from './frames.ts';
import { TAKEN_BYTES_MIN, TUNNEL_WINDOW_BYTES } from './limits.ts';
import { TunnelSocket } from './tunnel-socket.ts';

/** A client of this process whose sessions are at another one, its home. */
interface Forwarded {
  readonly home: string;
  readonly socket: Duplex;
  /** Bytes under way to its home. */
  underWayBytes: number;
  /** Bytes written to the client and not reported to its home. */
  untoldBytes: number;
}

/** Connections of clients that are connected to one process and served by another one. */
export class Tunnels {
  readonly #bus: Bus;
  readonly #accept: ClusterNode['accept'];
  readonly #forwarded = new Map<TunnelId, Forwarded>();
  /** Served clients, by the process to which they are connected. */
  readonly #served = new Map<string, Map<TunnelId, TunnelSocket>>();
  #lastId = 0;

  constructor(bus: Bus, accept: ClusterNode['accept']) {
    this.#bus = bus;
    this.#accept = accept;
  }

  /** How many clients of this process others serve. */
  get forwarded(): number {
    return this.#forwarded.size;
  }

  /** Passes a client's bytes on to its home, beginning with those that were read. */
  forward(home: string, { peer, wire, socket, read }: ForwardedClient): void {
    this.#lastId += 1;
    const id = this.#lastId;
    const forwarded: Forwarded = { home, socket, underWayBytes: 0, untoldBytes: 0 };
    this.#forwarded.set(id, forwarded);
    this.#bus.send(home, { type: 'open', id, peer, wire });
    const pass = (bytes: Buffer) => {
      forwarded.underWayBytes += bytes.length;
      // The socket reuses its buffer.
      this.#bus.send(home, { type: 'up', id, bytes: Buffer.from(bytes) });
      if (forwarded.underWayBytes >= TUNNEL_WINDOW_BYTES) socket.pause();
    };
    for (const bytes of read) pass(bytes);
    socket.on('data', pass);
    // The end of a request's body is no end of its answer.
    if (wire !== 'http') socket.on('end', () => socket.end());
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#forwarded.delete(id)) this.#bus.send(home, { type: 'closed', by: 'client', id });
    });
    if (socket.destroyed) socket.emit('close');
    else socket.resume();
  }

  handle(from: string, frame: Frame): void {
    switch (frame.type) {
      case 'open':
        this.#open(from, frame);
        break;
      case 'up':
        this.#served.get(from)?.get(frame.id)?.receive(Buffer.from(frame.bytes));
        break;
      case 'down':
        this.#down(from, frame.id, Buffer.from(frame.bytes));
        break;
      case 'taken':
        this.#taken(from, frame.of, frame.id, frame.bytes);
        break;
      case 'closed':
        if (frame.by === 'client') this.#served.get(from)?.get(frame.id)?.finish();
        else this.#end(frame.id);
        break;
      default:
    }
  }

  /** The process is dead: its clients are gone, and those that it served have to come back. */
  lost(process: string): void {
    for (const socket of [...(this.#served.get(process)?.values() ?? [])]) socket.finish();
    this.#served.delete(process);
    for (const [id, { home, socket }] of this.#forwarded) {
      if (home !== process) continue;
      this.#forwarded.delete(id);
      socket.destroy();
    }
  }

  /** Ends the connections of clients that others serve. */
  stop(): void {
    for (const [id, { home, socket }] of this.#forwarded) {
      this.#forwarded.delete(id);
      this.#bus.send(home, { type: 'closed', by: 'client', id });
      socket.destroy();
    }
  }

  #open(from: string, { id, peer, wire }: Extract<Frame, { type: 'open' }>): void {
    let isClosed = false;
    let untoldBytes = 0;
    const served = this.#served.get(from) ?? new Map<TunnelId, TunnelSocket>();
    this.#served.set(from, served);
    const end = {
      send: (bytes: Buffer) => this.#bus.send(from, { type: 'down', id, bytes }),
      taken: (bytes: number) => {
        untoldBytes += bytes;
        if (untoldBytes < TAKEN_BYTES_MIN) return;
        this.#bus.send(from, { type: 'taken', of: 'up', id, bytes: untoldBytes });
        untoldBytes = 0;
      },
      closed: () => {
        if (isClosed) return;
        isClosed = true;
        served.delete(id);
        this.#bus.send(from, { type: 'closed', by: 'home', id });
      },
    };
    const socket = new TunnelSocket(end, TUNNEL_WINDOW_BYTES);
    served.set(id, socket);
    // A process of an older version passes on WebSockets alone, and does not say so.
    this.#accept(peer, wire ?? 'websocket', socket);
  }

  #down(home: string, id: TunnelId, bytes: Buffer): void {
    const forwarded = this.#forwarded.get(id);
    if (forwarded === undefined || !forwarded.socket.writable) return;
    forwarded.socket.write(bytes, () => {
      forwarded.untoldBytes += bytes.length;
      if (forwarded.untoldBytes < TAKEN_BYTES_MIN) return;
      this.#bus.send(home, { type: 'taken', of: 'down', id, bytes: forwarded.untoldBytes });
      forwarded.untoldBytes = 0;
    });
  }

  #taken(from: string, of: 'up' | 'down', id: TunnelId, bytes: number): void {
    if (of === 'down') {
      this.#served.get(from)?.get(id)?.written(bytes);
      return;
    }
    const forwarded = this.#forwarded.get(id);
    if (forwarded === undefined) return;
    forwarded.underWayBytes -= bytes;
    if (forwarded.underWayBytes < TUNNEL_WINDOW_BYTES / 2) forwarded.socket.resume();
  }

  /** The home has closed the connection: what it sent before leaves first. */
  #end(id: TunnelId): void {
    const forwarded = this.#forwarded.get(id);
    if (forwarded === undefined) return;
    this.#forwarded.delete(id);
    forwarded.socket.end(() => forwarded.socket.destroy());
  }
}
