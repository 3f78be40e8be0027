import { parser as createParser, generate, type Packet, type Parser } from 'mqtt-packet';
import { BinaryWire } from './binary-wire.ts';
import { doorUnderTest, isHttpUnderTest } from './door.ts';
import { HttpWire } from './http-wire.ts';
import { packetLength } from './packet-length.ts';
import { PATIENCE_MS } from './patience.ts';
import { TcpWire } from './tcp-wire.ts';
import { TextWire } from './text-wire.ts';
import type { Wire, WireEvents } from './wire.ts';

export type Received = Packet & Record<string, unknown>;

/**
 * A client that sends exactly the packets of the test, well-formed or not, and queues what it receives. It answers
 * nothing by itself: it sends no PUBACK, no PUBREC, no PINGREQ.
 */
export class RawClient {
  #wire: Wire | undefined;
  readonly #parser: Parser;
  readonly #version: 3 | 4 | 5;
  readonly #received: Received[] = [];
  readonly #waiting: (() => void)[] = [];
  /** The bytes of each packet: for example, `mqtt-packet` does not keep the order of User Properties. */
  readonly #bytes = new WeakMap<Received, Buffer>();
  #current: Buffer = Buffer.alloc(0);
  #unparsed: Buffer = Buffer.alloc(0);
  #closed: { code: number } | undefined;

  private constructor(version: 3 | 4 | 5) {
    this.#version = version;
    this.#parser = createParser({ protocolVersion: version } as never);
    this.#parser.on('packet', (packet) => {
      this.#received.push(packet as Received);
      this.#bytes.set(packet as Received, this.#current);
      this.#wake();
    });
  }

  /**
   * Opens the WebSocket and sends nothing.
   *
   * @param localAddress the address to connect from. Linux has all of 127.0.0.0/8. @default the system chooses
   */
  static async open(
    url: string,
    version: 3 | 4 | 5 = 5,
    subprotocols: string[] = ['mqtt'],
    headers: Readonly<Record<string, string>> = {},
    localAddress?: string,
  ): Promise<RawClient> {
    const client = new RawClient(version);
    const events: WireEvents = {
      received: (bytes) => client.#accept(bytes),
      closed: (code) => {
        client.#closed = { code };
        client.#wake();
      },
    };
    if (url.startsWith('mqtt:')) client.#wire = await TcpWire.open(url, events, localAddress);
    else if (isHttpUnderTest) client.#wire = await HttpWire.open(url, events, headers);
    else if (doorUnderTest === 'gateway')
      client.#wire = await TextWire.open(url, events, headers, localAddress);
    else client.#wire = await BinaryWire.open(url, events, subprotocols, headers, localAddress);
    return client;
  }

  /** Opens the WebSocket, sends CONNECT and returns with the CONNACK. Fields as in `mqtt-packet`. */
  static async connect(
    url: string,
    connect: Record<string, unknown> = {},
    headers: Readonly<Record<string, string>> = {},
    localAddress?: string,
  ): Promise<{ client: RawClient; connack: Received }> {
    const version = (connect.protocolVersion ?? 5) as 3 | 4 | 5;
    const client = await RawClient.open(url, version, ['mqtt'], headers, localAddress);
    return { client, connack: await client.logIn(connect) };
  }

  /** Sends CONNECT and returns the CONNACK. Fields as in `mqtt-packet`. */
  async logIn(connect: Record<string, unknown> = {}): Promise<Received> {
    this.send({
      cmd: 'connect',
      protocolId: this.#version === 3 ? 'MQIsdp' : 'MQTT',
      protocolVersion: this.#version,
      clean: true,
      clientId: '',
      keepalive: 0,
      ...connect,
    });
    return await this.expect('connack');
  }

  /** Sends a packet in `mqtt-packet`'s shape. */
  send(packet: Record<string, unknown>): void {
    this.sendBytes(generate(packet as never, { protocolVersion: this.#version } as never));
  }

  /** Sends any bytes as one frame. */
  sendBytes(bytes: Uint8Array | string): void {
    this.#wire?.send(typeof bytes === 'string' ? Buffer.from(bytes.replaceAll(/\s/g, ''), 'hex') : bytes);
  }

  sendText(text: string): void {
    this.#wire?.sendText(text);
  }

  /** Reads nothing from the network until `resume`, like a stuck client. */
  pause(): void {
    this.#wire?.pause?.();
  }

  resume(): void {
    this.#wire?.resume?.();
  }

  /** The next packet, which must have this type. */
  async expect(cmd: string): Promise<Received> {
    const packet = await this.next();
    if (packet.cmd !== cmd) throw new Error(`expected ${cmd}, received ${JSON.stringify(packet)}`);
    return packet;
  }

  /** The next packet of any type. */
  async next(): Promise<Received> {
    await this.#until(() => this.#received.length > 0 || this.#closed !== undefined, 'a packet');
    const packet = this.#received.shift();
    if (packet === undefined)
      throw new Error(`expected a packet, the connection closed with ${this.#closed?.code}`);
    return packet;
  }

  /** Takes the packets that have come so far, without waiting for more. */
  takeReceived(): Received[] {
    return this.#received.splice(0);
  }

  /** The bytes of a received packet, from its fixed header to its end. */
  bytesOf(packet: Received): Buffer {
    const bytes = this.#bytes.get(packet);
    if (bytes === undefined) throw new Error('this client has not received that packet');
    return bytes;
  }

  /** Waits for the close and returns its WebSocket code; packets that came before stay in the queue. */
  async expectClose(): Promise<number> {
    await this.#until(() => this.#closed !== undefined, 'the close of the connection');
    return this.#closed?.code ?? 0;
  }

  /**
   * Proves that nothing more is on the way, without sleeping: the broker answers a PINGREQ in order, so all that it
   * sent before the PINGRESP has come. Throws if any other packet was received.
   */
  async expectNothing(): Promise<void> {
    this.send({ cmd: 'pingreq' });
    await this.expect('pingresp');
  }

  /** Cuts the TCP connection without DISCONNECT and without a close frame. */
  async vanish(): Promise<void> {
    this.#wire?.terminate();
    await this.#until(() => this.#closed !== undefined, 'the close of the connection');
  }

  /** DISCONNECT with reason 0x00, then the close. */
  async disconnect(packet: Record<string, unknown> = {}): Promise<void> {
    this.send({ cmd: 'disconnect', ...packet });
    await this.expectClose();
  }

  /** Closes without DISCONNECT; for the end of a test. */
  close(): void {
    this.#wire?.terminate();
  }

  /** Cuts the stream into packets, and keeps the bytes of each. */
  #accept(data: Buffer): void {
    this.#unparsed = Buffer.concat([this.#unparsed, data]);
    for (let length = packetLength(this.#unparsed); length > 0; length = packetLength(this.#unparsed)) {
      this.#current = this.#unparsed.subarray(0, length);
      this.#unparsed = this.#unparsed.subarray(length);
      this.#parser.parse(this.#current);
    }
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #until(condition: () => boolean, what: string): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!condition()) {
      const remaining = deadline - Date.now();
      if (remaining <= 0) throw new Error(`waited ${PATIENCE_MS} ms for ${what}`);
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        timer = setTimeout(resolve, remaining);
      });
      clearTimeout(timer);
    }
  }
}
