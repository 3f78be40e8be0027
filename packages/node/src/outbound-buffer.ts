import type { Socket } from 'node:net';
import { frameHeaderBytes, writeFrameHeader } from './web-socket/frames.ts';

/** At least so many bytes are written by themselves: gathering them would copy them. */
const GATHERED_BYTES_MAX = 16 * 1024;
/** So many bytes are written at once and not at the end of the turn, so that the kernel has them early. */
const WRITE_BYTES = 64 * 1024;

const NOTHING = Buffer.alloc(0);

/**
 * Flushes, at the end of a turn of the event loop, what the turn has gathered for all clients. One turn reads from
 * many sockets, so a busy subscriber gets the messages of many publishers in one write, and in one frame: for a
 * browser a frame is more work than a packet.
 */
export class Flusher {
  #waiting: OutboundBuffer[] = [];
  #spare: OutboundBuffer[] = [];
  readonly #flushAll = () => this.#flush();

  add(buffer: OutboundBuffer): void {
    if (this.#waiting.length === 0) setImmediate(this.#flushAll);
    this.#waiting.push(buffer);
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = this.#spare;
    for (const buffer of waiting) buffer.flush();
    waiting.length = 0;
    this.#spare = waiting;
  }
}

/** The link whose bytes leave. */
export interface Sender {
  /** The link waits to hear that bytes have left this process. */
  readonly wantsRoom: boolean;
  written(): void;
}

/** Bytes that leave with others, and a Packet Identifier to be written at `idAt`; below 0: none. */
interface Gathered {
  readonly bytes: Uint8Array;
  readonly idAt: number;
  readonly id: number;
}

const NO_ID = -1;

/** The bytes for one client, in order, and how many have not left yet. */
export class OutboundBuffer {
  readonly #socket: Socket;
  readonly #flusher: Flusher;
  readonly #sender: Sender;
  /** The only packet since the last write: most turns have one for a client. */
  #first: Uint8Array | undefined;
  #firstIdAt = NO_ID;
  #firstId = 0;
  #others: Gathered[] | undefined;
  #gatheredBytes = 0;
  #isScheduled = false;
  /** `written` will be called when the kernel has taken what waits in the socket. */
  #isWatched = false;

  constructor(socket: Socket, flusher: Flusher, sender: Sender) {
    this.#socket = socket;
    this.#flusher = flusher;
    this.#sender = sender;
  }

  /** Bytes that the kernel has not taken. */
  get bufferedBytes(): number {
    return this.#gatheredBytes + this.#socket.writableLength;
  }

  /**
   * @param packet all recipients share it
   * @param tail the rest of the packet, where it is not copied
   * @param idAt where this recipient's Packet Identifier is written
   */
  push(packet: Uint8Array, tail?: Uint8Array, idAt = NO_ID, id = 0): void {
    this.#gather(packet, idAt, id);
    if (tail !== undefined) this.#gather(tail, NO_ID, 0);
    if (this.#gatheredBytes >= WRITE_BYTES) this.flush();
    else if (this.#gatheredBytes > 0 && !this.#isScheduled) this.#schedule();
  }

  flush(): void {
    this.#isScheduled = false;
    if (this.#gatheredBytes > 0) this.#writeFrame();
    if (this.#socket.writableLength > 0) this.#watch();
    else if (this.#sender.wantsRoom) this.#sender.written();
  }

  #gather(bytes: Uint8Array, idAt: number, id: number): void {
    if (bytes.length > GATHERED_BYTES_MAX) {
      this.#writeFrame(withId(bytes, idAt, id));
      this.#watch();
      return;
    }
    this.#gatheredBytes += bytes.length;
    if (this.#first === undefined) {
      this.#first = bytes;
      this.#firstIdAt = idAt;
      this.#firstId = id;
    } else if (this.#others === undefined) this.#others = [{ bytes, idAt, id }];
    else this.#others.push({ bytes, idAt, id });
  }

  /** Writes the gathered bytes, and those that follow in the same frame: a packet may be cut between them. */
  #writeFrame(large?: Uint8Array): void {
    const payloadBytes = this.#gatheredBytes + (large?.length ?? 0);
    const frame = Buffer.allocUnsafe(frameHeaderBytes(payloadBytes) + this.#gatheredBytes);
    let at = writeFrameHeader(frame, payloadBytes);
    if (this.#first !== undefined) at = put(frame, this.#first, at, this.#firstIdAt, this.#firstId);
    if (this.#others !== undefined)
      for (const { bytes, idAt, id } of this.#others) at = put(frame, bytes, at, idAt, id);
    this.#first = undefined;
    this.#others = undefined;
    this.#gatheredBytes = 0;
    this.#write(frame);
    if (large !== undefined) this.#write(large);
  }

  #schedule(): void {
    this.#isScheduled = true;
    this.#flusher.add(this);
  }

  #write(bytes: Uint8Array): void {
    // The frames of the WebSocket itself (close, pong) are written to the same socket, which keeps their order.
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  /** Nearly every write is taken at once: only behind others is a callback worth its price. */
  #watch(): void {
    if (this.#isWatched || !this.#socket.writable) return;
    this.#isWatched = true;
    this.#socket.write(NOTHING, () => {
      this.#isWatched = false;
      this.#sender.written();
      if (this.#socket.writableLength > 0) this.#watch();
    });
  }
}

/** Copies the packet, and returns where it ends: a few bytes one by one, which is quicker than a call. */
function put(frame: Buffer, bytes: Uint8Array, at: number, idAt: number, id: number): number {
  if (bytes.length > 8) frame.set(bytes, at);
  else for (let index = 0; index < bytes.length; index += 1) frame[at + index] = bytes[index] ?? 0;
  if (idAt >= 0) writeId(frame, at + idAt, id);
  return at + bytes.length;
}

function writeId(bytes: Uint8Array, at: number, id: number): void {
  bytes[at] = id >> 8;
  bytes[at + 1] = id & 0xff;
}

function withId(bytes: Uint8Array, idAt: number, id: number): Uint8Array {
  if (idAt < 0) return bytes;
  const copy = Buffer.from(bytes);
  writeId(copy, idAt, id);
  return copy;
}
