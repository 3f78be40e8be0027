import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Wire, WireEvents } from './wire.ts';

/** MQTT over WebSocket as the standard has it: each piece is a binary frame [MQTT-6.0.0-1]. */
export class BinaryWire implements Wire {
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket, events: WireEvents) {
    this.#socket = socket;
    socket.on('message', (data) => events.received(data as Buffer));
    socket.on('close', (code) => events.closed(code));
    socket.on('error', () => {});
  }

  static async open(
    url: string,
    events: WireEvents,
    subprotocols: string[],
    headers: Readonly<Record<string, string>> = {},
    localAddress?: string,
  ): Promise<BinaryWire> {
    const socket = new WebSocket(url, subprotocols, { headers, localAddress });
    const wire = new BinaryWire(socket, events);
    await once(socket, 'open');
    return wire;
  }

  send(bytes: Uint8Array): void {
    this.#socket.send(bytes);
  }

  sendText(text: string): void {
    this.#socket.send(text);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
