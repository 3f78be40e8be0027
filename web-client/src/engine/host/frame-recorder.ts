import { billedMessages, decodeServerFrame, type Statistics } from '@apus/client';
import { PacketType } from '../inspect/packet-types.ts';
import { type FrameRow, NoFrame } from '../protocol.ts';
import type { FrameKind, GatewayTraffic } from '../types.ts';
import { type ConnectHandshake, type FrameListener, readClientFrame } from '../wire/frame-tap.ts';
import { PacketSplitter } from '../wire/packet-splitter.ts';

/** The receiver of recorded frames: the batcher, in the worker. */
export interface FrameSink {
  frame(row: Omit<FrameRow, 'offset' | 'length'>, bytes: Uint8Array): void;
  /** A packet of the timeline was in this frame, or in none, for a reason of `NoFrame`. */
  link(packetId: number, frame: number): void;
}

/** A packet of the timeline that waits for its frame. */
interface Written {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** A packet of a frame that has not reached the MQTT library yet. */
interface Arrived {
  readonly frame: number;
  readonly bytes: Uint8Array;
}

/** MQTT bytes in one client frame (docs/text-frames.md, section 2): the transport refuses a larger packet. */
const PACKET_BYTES_MAX = 24_573;

/**
 * Packets that wait for their counterpart. The transport holds 1,000 pushes back and mqtt.js stops writing at 512 KiB:
 * more wait only if the counterparts never come.
 */
const WAITING_MAX = 10_000;

/**
 * Finds the text frame of each packet at the gateway door. The transport lies in between: it gathers packets, holds
 * pushes back, answers pings itself and omits acknowledgements. So frames are recorded below it and packets above it,
 * and this class joins them by their bytes, in order.
 */
export class FrameRecorder {
  readonly totals = { ...NO_FRAMES };
  readonly #sink: FrameSink;
  readonly #now: () => number;
  #statistics: Statistics | undefined;
  #pubacksDropped = 0;
  #lastFrame = 0;
  /** The handshake that has answered CONNECT, until the library has read CONNACK. */
  #handshake: number | undefined;
  #session = 0;
  #written: Written[] = [];
  #arrived: Arrived[] = [];
  /** The packets of the frame that awaits its reply; undefined for those that the transport has added. */
  #outstanding: (Written | undefined)[] = [];

  constructor(sink: FrameSink, now: () => number) {
    this.#sink = sink;
    this.#now = now;
  }

  /** Registers a new transport, which counts the packets that it omits. */
  watch(statistics: Statistics): void {
    this.#statistics = statistics;
    this.#pubacksDropped = statistics.pubacksDropped;
  }

  /** mqtt.js gets a new socket: packets that have not left on the last one never will. */
  begin(): void {
    this.matchDroppedPubacks();
    for (const { id } of this.#written) this.#sink.link(id, NoFrame.Unsent);
    this.#session += 1;
    this.#written = [];
    this.#arrived = [];
    this.#outstanding = [];
    this.#handshake = undefined;
  }

  /** Prepares for the next WebSocket. Frames that an abandoned one still brings are counted, and reach no library. */
  listener(): FrameListener {
    const session = this.#session;
    let asked: 'move' | 'resume' | undefined;
    return {
      handshake: (handshake) => this.#connectedBy(handshake),
      frameOut: (text) => {
        const kind = this.#frameOut(text);
        if (kind === 'move' || kind === 'resume') asked = kind;
      },
      frameIn: (text) => this.#frameIn(text, session === this.#session, asked),
    };
  }

  /** mqtt.js has written a packet. It is recorded before the transport gets it. */
  packetOut(id: number, bytes: Uint8Array): void {
    this.matchDroppedPubacks();
    if (typeOf(bytes) === PacketType.PINGREQ) {
      // The transport answers it itself.
      this.totals.pingsAnswered += 1;
      this.#sink.link(id, NoFrame.Kept);
    } else if (bytes.length > PACKET_BYTES_MAX) {
      this.#sink.link(id, NoFrame.Unsent);
    } else {
      if (this.#written.length >= WAITING_MAX) this.#written.shift();
      this.#written.push({ id, bytes });
    }
  }

  /** mqtt.js has read a packet. */
  packetIn(id: number, bytes: Uint8Array): void {
    if (typeOf(bytes) === PacketType.PINGRESP) {
      this.#sink.link(id, NoFrame.Kept);
      return;
    }
    const arrived = takeAlike(this.#arrived, bytes);
    const frame = arrived?.frame ?? (typeOf(bytes) === PacketType.CONNACK ? this.#handshake : undefined);
    if (frame !== undefined) this.#sink.link(id, frame);
  }

  /** Finds the acknowledgements that the transport has omitted since: they are the first that were written. */
  matchDroppedPubacks(): void {
    const dropped = this.#statistics?.pubacksDropped ?? 0;
    for (; this.#pubacksDropped < dropped; this.#pubacksDropped += 1) {
      this.totals.pubacksDropped += 1;
      const index = this.#written.findIndex(({ bytes }) => typeOf(bytes) === PacketType.PUBACK);
      const [puback] = index === -1 ? [] : this.#written.splice(index, 1);
      if (puback !== undefined) this.#sink.link(puback.id, NoFrame.Kept);
    }
  }

  /** The gateway bills no message for a handshake. */
  #connectedBy({ connect, characters, isAccepted }: ConnectHandshake): void {
    const { totals } = this;
    const billedAlone = billedMessagesAlone(connect) + (isAccepted ? CONNACK_BILLED : 0);
    this.#lastFrame += 1;
    totals.framesSent += 1;
    totals.packets += isAccepted ? 2 : 1;
    totals.billedAlone += billedAlone;
    const number = this.#lastFrame;
    const of = { number, atMs: this.#now(), isOut: true, kind: 'handshake', characters } as const;
    this.#sink.frame({ ...of, ...NO_REPLY, billed: 0, billedAlone }, connect);
    const written = takeAlike(this.#written, connect);
    if (written !== undefined) this.#sink.link(written.id, number);
    if (isAccepted) this.#handshake = number;
  }

  #frameOut(text: string): FrameKind {
    this.matchDroppedPubacks();
    const { special, wantsReply, bytes } = readClientFrame(text);
    const packets = new PacketSplitter().push(bytes);
    const kind = special ?? kindOf(wantsReply, packets);
    const number = this.#record(text, true, kind, bytes, packets);
    const written = packets.map((packet) => takeAlike(this.#written, packet));
    for (const packet of written) if (packet !== undefined) this.#sink.link(packet.id, number);
    if (wantsReply) this.#outstanding = written;
    return kind;
  }

  /** @param asked what the first frame of this socket has asked for */
  #frameIn(text: string, isCurrent: boolean, asked: 'move' | 'resume' | undefined): void {
    const frame = decodeServerFrame(text);
    const bytes = 'bytes' in frame ? frame.bytes : new Uint8Array(0);
    const packets = new PacketSplitter().push(bytes);
    const reply = frame.kind === 'reply' ? frame : undefined;
    const kind = (asked !== undefined && answerOf(asked, reply?.move)) || frame.kind;
    const number = this.#record(text, false, kind, bytes, packets, reply);
    if (!isCurrent) return;
    if (reply !== undefined) this.#answered(reply.taken);
    for (const packet of packets) {
      if (typeOf(packet) === PacketType.PINGRESP) continue;
      if (this.#arrived.length >= WAITING_MAX) this.#arrived.shift();
      this.#arrived.push({ frame: number, bytes: packet });
    }
  }

  /** Packets that the server has not taken are sent again, before all others. */
  #answered(taken: number | undefined): void {
    const again = taken === undefined ? [] : this.#outstanding.slice(taken);
    this.#written.unshift(...again.filter((packet) => packet !== undefined));
    this.#outstanding = [];
  }

  #record(
    text: string,
    isOut: boolean,
    kind: FrameKind,
    bytes: Uint8Array,
    packets: readonly Uint8Array[],
    reply?: { readonly taken: number | undefined; readonly parts: number; readonly more: boolean },
  ): number {
    const { totals } = this;
    const billed = billedMessages(text.length);
    const billedAlone = packets.reduce((sum, packet) => sum + billedMessagesAlone(packet), 0);
    this.#lastFrame += 1;
    if (isOut) totals.framesSent += 1;
    else totals.framesReceived += 1;
    totals.messagesBilled += billed;
    totals.packets += packets.length;
    totals.billedAlone += billedAlone;
    this.#sink.frame(
      {
        number: this.#lastFrame,
        atMs: this.#now(),
        isOut,
        kind,
        characters: text.length,
        billed,
        billedAlone,
        taken: reply?.taken,
        parts: reply?.parts ?? 0,
        more: reply?.more ?? false,
      },
      bytes,
    );
    return this.#lastFrame;
  }
}

function kindOf(wantsReply: boolean, packets: readonly Uint8Array[]): FrameKind {
  if (!wantsReply) return 'one-way';
  const [first] = packets;
  if (first === undefined) return 'fetch';
  return packets.length === 1 && typeOf(first) === PacketType.PINGREQ ? 'heartbeat' : 'request';
}

/** The answer to a move or a resume brings the next ticket, or `!` and a reason. */
function answerOf(asked: 'move' | 'resume', ticket: string | undefined): FrameKind | undefined {
  if (ticket === undefined) return undefined;
  if (ticket.startsWith('!')) return 'not-moved';
  return asked === 'move' ? 'moved' : 'resumed';
}

const NO_REPLY = { taken: undefined, parts: 0, more: false };

/** In a frame of its own, CONNACK would be one message. */
const CONNACK_BILLED = 1;

const NO_FRAMES: { -readonly [K in keyof GatewayTraffic]: number } = {
  framesSent: 0,
  framesReceived: 0,
  messagesBilled: 0,
  packets: 0,
  billedAlone: 0,
  pingsAnswered: 0,
  pubacksDropped: 0,
};

/** A frame with this packet alone: its base64 and one marker. */
function billedMessagesAlone(packet: Uint8Array): number {
  return billedMessages(Math.ceil(packet.length / 3) * 4 + 1);
}

function typeOf(packet: Uint8Array): number {
  return (packet[0] ?? 0) >> 4;
}

/** Takes the first packet that is the same one. The transport changes CONNECT and CONNACK on their way. */
function takeAlike<T extends { readonly bytes: Uint8Array }>(from: T[], bytes: Uint8Array): T | undefined {
  const type = typeOf(bytes);
  const isChanged = type === PacketType.CONNECT || type === PacketType.CONNACK;
  const index = from.findIndex((one) =>
    isChanged ? typeOf(one.bytes) === type : areEqual(one.bytes, bytes),
  );
  return index === -1 ? undefined : from.splice(index, 1)[0];
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}
