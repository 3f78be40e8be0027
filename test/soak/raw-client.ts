import { encodePacket, type Packet } from '@apus/mqtt';
import { WebSocket } from 'ws';

export type Door = 'node' | 'gateway';

export interface Target {
  readonly door: Door;
  readonly url: string;
}

const CONNACK = 2;

/** A client that keeps only the rules of WebSocket. */
export class RawClient {
  isConnected = false;
  isClosed = false;
  readonly #socket: WebSocket;
  readonly #door: Door;

  constructor({ url, door }: Target, connect: Packet | undefined) {
    this.#door = door;
    this.#socket = new WebSocket(url, [door === 'node' ? 'mqtt' : 'mqtt-text-v1']);
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      this.isClosed = true;
    });
    this.#socket.on('open', () => {
      if (connect !== undefined) this.send(connect);
    });
    this.#socket.on('message', (data: Buffer) => {
      if (this.isConnected) return;
      const first =
        door === 'node' ? data[0] : Buffer.from(data.toString().replace(/^[^A-Za-z0-9+/]/, ''), 'base64')[0];
      this.isConnected = (first ?? 0) >> 4 === CONNACK;
    });
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(packet: Packet): void {
    this.sendBytes(Buffer.from(encodePacket(packet, 5)));
  }

  sendBytes(bytes: Buffer): void {
    this.#whenOpen(() => this.#socket.send(this.#door === 'node' ? bytes : `,${bytes.toString('base64')}`));
  }

  /** Sends to the gateway door a frame as it is. */
  sendText(text: string): void {
    if (this.#door === 'gateway') this.#whenOpen(() => this.#socket.send(text));
  }

  /** Sends control frames of WebSocket. */
  ping(count: number): void {
    this.#whenOpen(() => {
      for (let left = count; left > 0; left -= 1) this.#socket.ping();
    });
  }

  /** Sends the first fragment of a message without a second one. */
  begin(bytes: number): void {
    this.#whenOpen(() => this.#socket.send(Buffer.alloc(bytes), { fin: false }));
  }

  /** Stops reading. */
  pause(): void {
    this.#socket.once('message', () => this.#socket.pause());
  }

  end(): void {
    this.#socket.terminate();
  }

  #whenOpen(act: () => void): void {
    if (this.#socket.readyState === WebSocket.OPEN) act();
    else if (this.#socket.readyState === WebSocket.CONNECTING) this.#socket.once('open', act);
  }
}
