import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Wire, WireEvents } from './wire.ts';

/** The code of a WebSocket that ended without a close frame. */
const NO_CODE = 1006;

/** MQTT over TCP: the bytes as they are [MQTT-4.2.0-1]. */
export class TcpWire implements Wire {
  readonly #socket: Socket;

  private constructor(socket: Socket, events: WireEvents) {
    this.#socket = socket;
    socket.on('data', (bytes) => events.received(bytes));
    socket.on('close', () => events.closed(NO_CODE));
    socket.on('error', () => {});
  }

  static async open(url: string, events: WireEvents, localAddress?: string): Promise<TcpWire> {
    const { hostname: host, port } = new URL(url);
    const socket = connect({ host, port: Number(port), ...(localAddress !== undefined && { localAddress }) });
    const wire = new TcpWire(socket, events);
    await once(socket, 'connect');
    return wire;
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  sendText(): void {
    throw new Error('TCP has no text frames');
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  terminate(): void {
    this.#socket.destroy();
  }
}
