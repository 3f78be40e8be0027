import { once } from 'node:events';
import { parser as createParser, generate, type Packet } from 'mqtt-packet';
import { WebSocket } from 'ws';
import { packetLength } from './packet-length.ts';
import { PATIENCE_MS } from './patience.ts';
import { readServerFrame } from './server-frame.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type Received = Packet & Record<string, unknown>;

export interface Reply {
  readonly packets: readonly Received[];
  readonly bytes: Buffer;
  readonly more: boolean;
  readonly taken: number | undefined;
  readonly clock: string | undefined;
  /** Extensions that the server takes; undefined: it names none. */
  readonly extensions: readonly string[] | undefined;
  /** The move field: a ticket and seconds, or `!` and a refusal. */
  readonly move: string | undefined;
  /** The number of parts in further frames: `parts` of the client. */
  readonly parts: number;
}

export interface Push {
  readonly packets: readonly Received[];
  readonly bytes: Buffer;
}

/** A client of the gateway door that does nothing by itself: the test sends each frame, and each fetch. */
export class TextClient {
  readonly replies = new Mailbox<Reply>('a reply');
  readonly pushes = new Mailbox<Push>('a push');
  /** Parts of replies: packets that did not fit into the frame. */
  readonly parts = new Mailbox<Push>('a part of a reply');
  /** The gateway's own JSON frames. */
  readonly errors = new Mailbox<string>('an error frame');
  /** The kinds of the frames that came, in their order: `push`, `part`, `reply`, `error`. */
  readonly arrivals: string[] = [];
  readonly #closed = new Mailbox<number>('the close of the connection');
  readonly #socket: WebSocket;
  readonly #version: 3 | 4 | 5;
  readonly #offer: string;

  private constructor(socket: WebSocket, version: 3 | 4 | 5, offer: string) {
    this.#socket = socket;
    this.#version = version;
    this.#offer = offer;
    socket.on('message', (data) => this.#accept(String(data)));
    socket.on('close', (code) => {
      this.#closed.push(code);
      this.replies.end(code);
      this.pushes.end(code);
      this.parts.end(code);
    });
    socket.on('error', () => {});
  }

  /**
   * @param offer the offer in its frame with CONNECT, such as `(nudge)`.
   * @default nothing
   * @param protocols the subprotocols that it offers.
   * @default the one that it speaks
   */
  static async open(
    url: string,
    version: 3 | 4 | 5 = 5,
    offer = '',
    protocols: readonly string[] = [offer === '' ? 'mqtt-text-v1' : 'mqtt-text-v1.1'],
  ): Promise<TextClient> {
    const socket = new WebSocket(url, [...protocols]);
    const client = new TextClient(socket, version, offer);
    await once(socket, 'open');
    return client;
  }

  /** Opens the WebSocket and sends CONNECT; `connack` is what its reply begins with, the rest is in `reply`. */
  static async connect(
    url: string,
    fields: Fields = {},
  ): Promise<{ client: TextClient; connack: Received | undefined; reply: Reply }> {
    const version = (fields.protocolVersion ?? 5) as 3 | 4 | 5;
    const client = await TextClient.open(url, version);
    const reply = await client.exchange(connect(fields));
    return { client, connack: reply.packets[0], reply };
  }

  /** The subprotocol that the server has selected. */
  get subprotocol(): string {
    return this.#socket.protocol;
  }

  /** Sends a text frame unchanged. */
  sendText(text: string): void {
    this.#socket.send(text);
  }

  /** Sends one frame with these packets that wants a reply, or none with the marker `,`. */
  send(packets: readonly Fields[], marker: '' | '.' | ',' = ''): void {
    const offer = packets[0]?.cmd === 'connect' ? this.#offer : '';
    this.sendText(`${offer}${marker}${this.encode(...packets).toString('base64')}`);
  }

  /** Sends one frame with these packets, and returns its reply. */
  async exchange(...packets: Fields[]): Promise<Reply> {
    this.send(packets);
    return await this.replies.next();
  }

  async fetch(): Promise<Reply> {
    this.sendText('.');
    return await this.replies.next();
  }

  encode(...packets: Fields[]): Buffer {
    const options = { protocolVersion: this.#version };
    return Buffer.concat(packets.map((packet) => generate(packet as never, options as never)));
  }

  /** Proves that no push is on its way: messages that were posted before a reply come before it. */
  async expectNoPush(): Promise<void> {
    await this.exchange({ cmd: 'pingreq' });
    if (this.pushes.size > 0) throw new Error(`expected no push, ${this.pushes.size} came`);
  }

  async expectClose(): Promise<number> {
    return await this.#closed.next();
  }

  /** Closes like a transport after DISCONNECT's reply. */
  close(code = 1000): void {
    this.#socket.close(code);
  }

  /** Cuts the TCP connection. */
  async vanish(): Promise<void> {
    this.#socket.terminate();
    await this.#closed.next();
  }

  #accept(text: string): void {
    const frame = readServerFrame(text);
    this.arrivals.push(frame.kind);
    if (frame.kind === 'error') this.errors.push(frame.text);
    if (frame.kind === 'push') this.pushes.push({ bytes: frame.bytes, packets: this.#decode(frame.bytes) });
    if (frame.kind === 'part') this.parts.push({ bytes: frame.bytes, packets: this.#decode(frame.bytes) });
    if (frame.kind === 'reply') this.replies.push({ ...frame, packets: this.#decode(frame.bytes) });
  }

  /** Expects whole packets: pushes of different sources may be interleaved. */
  #decode(bytes: Buffer): Received[] {
    const packets: Received[] = [];
    const parser = createParser({ protocolVersion: this.#version } as never);
    parser.on('packet', (packet) => packets.push(packet as Received));
    for (let offset = 0; offset < bytes.length; ) {
      const length = packetLength(bytes.subarray(offset));
      if (length === 0) throw new Error('a frame of the server ends within a packet');
      parser.parse(bytes.subarray(offset, offset + length));
      offset += length;
    }
    return packets;
  }
}

/** A CONNECT in `mqtt-packet`'s shape. */
export function connect(fields: Fields = {}): Fields {
  const { protocolVersion = 5 } = fields;
  return {
    cmd: 'connect',
    protocolId: protocolVersion === 3 ? 'MQIsdp' : 'MQTT',
    protocolVersion,
    clean: true,
    clientId: '',
    keepalive: 0,
    ...fields,
  };
}

export function subscribe(topic: string, options: Fields = {}): Fields {
  return {
    cmd: 'subscribe',
    messageId: 1,
    subscriptions: [{ topic, qos: 0, nl: false, rap: false, rh: 0, ...options }],
  };
}

export function publish(topic: string, payload: string | Buffer, fields: Fields = {}): Fields {
  return { cmd: 'publish', topic, payload, qos: 0, retain: false, dup: false, messageId: 1, ...fields };
}

/** The payloads of the PUBLISH packets among these. */
export function payloads(packets: readonly Received[]): string[] {
  return packets.filter(({ cmd }) => cmd === 'publish').map(({ payload }) => String(payload));
}

/** Keeps arrived items until the test asks for them. */
export class Mailbox<T> {
  readonly #what: string;
  readonly #items: T[] = [];
  #wake: (() => void) | undefined;
  #closedWith: number | undefined;

  constructor(what: string) {
    this.#what = what;
  }

  get size(): number {
    return this.#items.length;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** Nothing more will come. */
  end(code: number): void {
    this.#closedWith = code;
    this.#wake?.();
  }

  async next(): Promise<T> {
    if (this.#items.length === 0 && this.#closedWith === undefined) await this.#arrival();
    const item = this.#items.shift();
    if (item !== undefined) return item;
    throw new Error(
      this.#closedWith === undefined
        ? `waited ${PATIENCE_MS} ms for ${this.#what}`
        : `expected ${this.#what}, the connection closed with ${this.#closedWith}`,
    );
  }

  async #arrival(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }
}
