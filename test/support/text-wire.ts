import { once } from 'node:events';
import { WebSocket } from 'ws';
import { packetLength } from './packet-length.ts';
import { readServerFrame, type ServerFrame } from './server-frame.ts';
import type { Wire, WireEvents } from './wire.ts';

/** MQTT bytes of one frame from a client. */
const FRAME_BYTES_MAX = 24_573;

/** The first bytes of the packets that a transport has to recognise. */
const CONNACK = 0x20;
const SUBSCRIBE = 0x82;
const DISCONNECT = 0xe0;

type Reply = Extract<ServerFrame, { kind: 'reply' }>;

/**
 * MQTT in text frames (docs/text-frames.md), in the simplest way: one frame in flight; packets that wait meanwhile
 * leave as one frame; pushes are held back as section 4 says; and waiting messages are fetched. It omits no packet:
 * every packet of the test goes to the server, acknowledgements in their turn.
 */
export class TextWire implements Wire {
  readonly #socket: WebSocket;
  readonly #events: WireEvents;
  #gathered: Uint8Array[] = [];
  /** The pieces of the frame that waits for its reply; empty for a fetch. */
  #outstanding: Uint8Array[] | undefined;
  #heldPushes: Buffer[] = [];
  /** A reply without all of its parts yet, and the parts that have come. */
  #reply: Reply | undefined;
  #parts: Buffer[] = [];
  #isConnected = false;
  #isFetching = false;
  #clock = '';

  private constructor(socket: WebSocket, events: WireEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on('message', (data) => this.#accept(String(data)));
    socket.on('close', (code) => events.closed(code));
    socket.on('error', () => {});
  }

  static async open(
    url: string,
    events: WireEvents,
    headers: Readonly<Record<string, string>> = {},
    localAddress?: string,
  ): Promise<TextWire> {
    const socket = new WebSocket(url, ['mqtt-text-v1'], { headers, localAddress });
    const wire = new TextWire(socket, events);
    await once(socket, 'open');
    return wire;
  }

  send(bytes: Uint8Array): void {
    if (bytes.length > FRAME_BYTES_MAX) {
      throw new Error(`a frame takes ${FRAME_BYTES_MAX} bytes and the packet has ${bytes.length}`);
    }
    this.#gathered.push(bytes);
    this.#sendNext();
  }

  sendText(text: string): void {
    this.#socket.send(text);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #sendNext(): void {
    if (this.#outstanding !== undefined || (this.#gathered.length === 0 && !this.#isFetching)) return;
    const pieces = this.#takeFrame();
    this.#outstanding = pieces;
    const clock = this.#clock === '' ? '' : `@${this.#clock}`;
    const base64 = Buffer.concat(pieces).toString('base64');
    this.#socket.send(`${clock.length + base64.length < 32_768 ? clock : ''}.${base64}`);
  }

  #takeFrame(): Uint8Array[] {
    let bytes = 0;
    const isOver = this.#gathered.findIndex((piece) => {
      bytes += piece.length;
      return bytes > FRAME_BYTES_MAX;
    });
    return this.#gathered.splice(0, isOver < 0 ? this.#gathered.length : isOver);
  }

  #accept(text: string): void {
    const frame = readServerFrame(text);
    if (frame.kind === 'push') this.#acceptPush(frame.bytes);
    if (frame.kind === 'part') this.#parts.push(frame.bytes);
    if (frame.kind === 'reply') this.#reply = frame;
    this.#acceptWholeReply();
    // Of unknown fate (section 6): the frame is not sent again.
    if (frame.kind === 'error') this.#socket.close(1000);
  }

  #acceptPush(bytes: Buffer): void {
    if (this.#mustHold(bytes)) this.#heldPushes.push(bytes);
    else this.#events.received(bytes);
  }

  /** Section 4. A CONNACK that refuses comes as a push, and a DISCONNECT does not wait for packets that never come. */
  #mustHold(bytes: Buffer): boolean {
    const [first] = bytes;
    if (!this.#isConnected) return first !== CONNACK;
    if (first === DISCONNECT) return false;
    return this.#isFetching || firstBytes(this.#outstanding ?? []).includes(SUBSCRIBE);
  }

  /** Section 2: a reply is complete when all its parts have come. */
  #acceptWholeReply(): void {
    const reply = this.#reply;
    if (reply === undefined || this.#parts.length < reply.parts) return;
    const bytes = Buffer.concat([reply.bytes, ...this.#parts]);
    this.#reply = undefined;
    this.#parts = [];
    this.#acceptReply({ ...reply, bytes });
  }

  #acceptReply({ bytes, more, taken, clock }: Reply): void {
    const pieces = this.#outstanding;
    if (pieces === undefined) throw new Error('a reply came that nothing had asked for');
    this.#outstanding = undefined;
    if (clock !== undefined && clock > this.#clock) this.#clock = clock;
    if (taken !== undefined) this.#gathered.unshift(...pieces.splice(taken));
    if (bytes[0] === CONNACK) this.#isConnected = true;
    this.#isFetching = more;
    if (bytes.length > 0) this.#events.received(bytes);
    // Section 8: the client closes after the reply to its DISCONNECT.
    if (firstBytes(pieces).includes(DISCONNECT)) this.#socket.close(1000);
    else this.#goOn();
  }

  #goOn(): void {
    this.#sendNext();
    const held = this.#heldPushes;
    this.#heldPushes = [];
    for (const bytes of held) this.#acceptPush(bytes);
  }
}

/** The first bytes of the packets of a frame, as far as it holds packets. */
function firstBytes(pieces: readonly Uint8Array[]): number[] {
  const bytes = Buffer.concat(pieces);
  const firsts: number[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    firsts.push(bytes.readUInt8(offset));
    const length = packetLength(bytes.subarray(offset));
    if (length === 0) break;
    offset += length;
  }
  return firsts;
}
