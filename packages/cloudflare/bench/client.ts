import { once } from 'node:events';
import { generate } from 'mqtt-packet';
import { WebSocket } from 'ws';

export type Packet = Readonly<Record<string, unknown>>;

export const bytesOf = (packet: Packet): Buffer => generate(packet as never, { protocolVersion: 5 } as never);

const PUBLISH = 3;

/** A client that reads as little of what comes as a measurement needs. It shares one processor with the brokers. */
export class BenchClient {
  readonly #socket: WebSocket;
  /** Called with each packet: its type, and the packet identifier of a PUBLISH at QoS 1. */
  onPacket: (type: number, packetId: number) => void = () => {};

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => this.#read(data));
    socket.on('error', () => {});
  }

  /** With mqtt.js's Keep Alive. Resolves with CONNACK. */
  static async connect(url: string, fields: Packet = {}): Promise<BenchClient> {
    const socket = new WebSocket(url, ['mqtt'], { perMessageDeflate: false });
    await once(socket, 'open');
    const client = new BenchClient(socket);
    const facts = { protocolId: 'MQTT', protocolVersion: 5, clean: true, clientId: '', keepalive: 600 };
    await client.answered(bytesOf({ cmd: 'connect', ...facts, ...fields }));
    return client;
  }

  send(bytes: Uint8Array): void {
    this.#socket.send(bytes);
  }

  /** Sends bytes, and resolves with the next packet. */
  async answered(bytes: Uint8Array): Promise<void> {
    const came = new Promise<void>((resolve) => {
      this.onPacket = () => resolve();
    });
    this.send(bytes);
    await came;
    this.onPacket = () => {};
  }

  subscribe(topic: string, qos: number): Promise<void> {
    return this.answered(bytesOf({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos }] }));
  }

  async close(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }

  /** Ends the session as well, or leaves it behind. */
  async disconnect(): Promise<void> {
    const closed = once(this.#socket, 'close');
    this.send(bytesOf({ cmd: 'disconnect', reasonCode: 0 }));
    await closed;
  }

  #read(data: Buffer): void {
    for (let at = 0; at < data.length; ) {
      const type = (data[at] ?? 0) >> 4;
      const qos = ((data[at] ?? 0) >> 1) & 3;
      let [length, shift, from] = [0, 0, at + 1];
      for (let more = true; more; shift += 7, from += 1) {
        const byte = data[from] ?? 0;
        length |= (byte & 127) << shift;
        more = byte > 127;
      }
      const idAt = from + 2 + (type === PUBLISH ? data.readUInt16BE(from) : 0);
      this.onPacket(type, type === PUBLISH && qos > 0 ? data.readUInt16BE(idAt) : 0);
      at = from + length;
    }
  }
}

export const PACKET = { puback: 4, publish: PUBLISH } as const;
