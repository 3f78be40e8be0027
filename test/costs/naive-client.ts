import { once } from 'node:events';
import { generate } from 'mqtt-packet';
import { WebSocket } from 'ws';

/**
 * A naive transport: it sends every MQTT packet in a text frame of its own, as mqtt.js writes it. It gathers no packets
 * and leaves none out.
 */
export class NaiveClient {
  readonly #socket: WebSocket;
  readonly #frames: string[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#frames.push(String(data)));
  }

  static async connect(url: string, clientId: string): Promise<NaiveClient> {
    const socket = new WebSocket(url, ['mqtt-text-v1']);
    const client = new NaiveClient(socket);
    await once(socket, 'open');
    await client.ask({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: true,
      clientId,
      keepalive: 60,
    });
    return client;
  }

  /** Sends a packet and waits for the next frame. */
  async ask(packet: Record<string, unknown>): Promise<string> {
    const before = this.#frames.length;
    this.tell(packet);
    while (this.#frames.length === before) await once(this.#socket, 'message');
    return this.#frames.at(-1) ?? '';
  }

  /** The next frame that the server pushes. */
  async next(): Promise<string> {
    await once(this.#socket, 'message');
    return this.#frames.at(-1) ?? '';
  }

  tell(packet: Record<string, unknown>, marker = ''): void {
    this.#socket.send(`${marker}${generate(packet as never).toString('base64')}`);
  }

  async closed(): Promise<void> {
    if (this.#socket.readyState !== WebSocket.CLOSED) await once(this.#socket, 'close');
  }

  close(): void {
    this.#socket.terminate();
  }
}
