import type { Socket } from 'node:net';
import { type Clock, steadyNow, Turn } from '@apus/broker';
import type { Scheduler } from '@apus/door';
import type { BytesBudget, BytesHolder } from './bytes-budget.ts';
import type { NodeLimits } from './limits.ts';
import type { Wire } from './transport.ts';
import { frameHeaderBytes, writeFrameHeader } from './web-socket/frames.ts';

/** A larger packet, or part of one, is written by itself, without a copy. */
const COPIED_BYTES_MAX = 16 * 1024;
/** So many bytes are written at once and not at the end of the turn, so that the kernel has them early. */
const WRITE_BYTES = 64 * 1024;

const NOTHING = Buffer.alloc(0);

/**
 * Flushes, at the end of a turn of the event loop, what the turn has gathered for all clients. One turn reads from
 * many sockets, so a busy subscriber gets the messages of many publishers in one write, and in one frame: for a
 * browser a frame is more work than a packet. The kernel takes its time for large packets and for thousands of
 * clients, so what is left after `TURN_MS_MAX` leaves in later turns [SEC-WORK-9].
 */
export class Flusher {
  #waiting: OutboundBuffer[] = [];
  #spare: OutboundBuffer[] = [];
  readonly #clock: Clock;
  readonly #flushAll = () => this.#flush();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(buffer: OutboundBuffer): void {
    if (this.#waiting.length === 0) setImmediate(this.#flushAll);
    this.#waiting.push(buffer);
  }

  #flush(): void {
    const turn = new Turn(this.#clock);
    const waiting = this.#waiting;
    this.#waiting = this.#spare;
    let flushed = 0;
    for (const buffer of waiting) {
      buffer.flushAlone();
      flushed += 1;
      if (turn.isOver) break;
    }
    const left = waiting.slice(flushed);
    waiting.length = 0;
    this.#spare = waiting;
    if (left.length === 0) return;
    if (this.#waiting.length === 0) setImmediate(this.#flushAll);
    this.#waiting = left.concat(this.#waiting);
  }
}

/** The link whose bytes leave. */
export interface Sender {
  /** The link waits to hear that bytes have left this process. */
  readonly wantsRoom: boolean;
  written(): void;
  /** The connection has to end, for what it has not read. */
  overflowed(heldBytes: number): void;
}

export interface OutboundContext {
  readonly limits: Pick<NodeLimits, 'outboundBufferBytesMax'>;
  readonly flusher: Flusher;
  /** Bounds what all clients have not read. */
  readonly outboundBudget: BytesBudget;
  readonly scheduler: Scheduler;
}

/** Bytes that leave with others, and a Packet Identifier to be written at `idAt`; below 0: none. */
interface Gathered {
  readonly bytes: Uint8Array;
  readonly idAt: number;
  readonly id: number;
}

const NO_ID = -1;

/** The bytes for one client, in order, and how many have not left yet. */
export class OutboundBuffer implements BytesHolder {
  readonly #socket: Socket;
  readonly #context: OutboundContext;
  readonly #sender: Sender;
  readonly #isFramed: boolean;
  /** The only packet since the last write: most turns have one for a client. */
  #first: Uint8Array | undefined;
  #firstIdAt = NO_ID;
  #firstId = 0;
  #others: Gathered[] | undefined;
  #gatheredBytes = 0;
  /** Those of them that leave in a copy. */
  #copiedBytes = 0;
  #isScheduled = false;
  /** `written` will be called when the kernel has taken what waits in the socket. */
  #isWatched = false;
  #heldBytes = 0;
  #heldSinceMs = 0;

  constructor(socket: Socket, context: OutboundContext, sender: Sender, wire: Wire) {
    this.#socket = socket;
    this.#context = context;
    this.#sender = sender;
    this.#isFramed = wire === 'websocket';
  }

  /** Bytes that the kernel has not taken. */
  get bufferedBytes(): number {
    return this.#gatheredBytes + this.#socket.writableLength;
  }

  /** Bytes that the client may be sent before it reads; 0 or less: none. */
  get roomBytes(): number {
    return this.#bytesMax - this.bufferedBytes;
  }

  get isHalfEmpty(): boolean {
    return this.bufferedBytes < this.#bytesMax / 2;
  }

  get #bytesMax(): number {
    const { limits, outboundBudget } = this.#context;
    return Math.min(limits.outboundBufferBytesMax, outboundBudget.shareBytes);
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get heldSinceMs(): number {
    return this.#heldSinceMs;
  }

  overload(): void {
    const heldBytes = this.#heldBytes;
    this.end();
    this.#sender.overflowed(heldBytes);
  }

  /** The connection is gone, and its bytes with it. */
  end(): void {
    this.#account(0);
  }

  /**
   * @param packet all recipients share it
   * @param tail the rest of the packet, where it is not copied
   * @param idAt where this recipient's Packet Identifier is written
   */
  push(packet: Uint8Array, tail?: Uint8Array, idAt = NO_ID, id = 0): void {
    this.#gather(packet, idAt, id);
    if (tail !== undefined) this.#gather(tail, NO_ID, 0);
    if (this.#copiedBytes >= WRITE_BYTES) this.flush();
    else if (this.#gatheredBytes > 0 && !this.#isScheduled) this.#schedule();
  }

  flush(): void {
    this.#isScheduled = false;
    if (this.#gatheredBytes > 0) this.#writeGathered();
    if (this.#socket.writableLength > 0) this.#watch();
    else if (this.#sender.wantsRoom) this.#sender.written();
    this.#account(this.#socket.writableLength);
  }

  /** An exception ends this connection, and keeps no other from its bytes. */
  flushAlone(): void {
    try {
      this.flush();
    } catch (error) {
      this.#socket.destroy();
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  #gather(bytes: Uint8Array, idAt: number, id: number): void {
    this.#gatheredBytes += bytes.length;
    if (bytes.length <= COPIED_BYTES_MAX) this.#copiedBytes += bytes.length;
    if (this.#first === undefined) {
      this.#first = bytes;
      this.#firstIdAt = idAt;
      this.#firstId = id;
    } else if (this.#others === undefined) this.#others = [{ bytes, idAt, id }];
    else this.#others.push({ bytes, idAt, id });
  }

  /** Writes the gathered bytes, for a WebSocket as one frame: recipients share the bytes of a large packet. */
  #writeGathered(): void {
    const headerBytes = this.#isFramed ? frameHeaderBytes(this.#gatheredBytes) : 0;
    const frame = Buffer.allocUnsafe(headerBytes + this.#copiedBytes);
    let at = this.#isFramed ? writeFrameHeader(frame, this.#gatheredBytes) : 0;
    let from = 0;
    const take = (bytes: Uint8Array, idAt: number, id: number): void => {
      if (bytes.length <= COPIED_BYTES_MAX) {
        at = put(frame, bytes, at, idAt, id);
        return;
      }
      if (at > from) this.#write(frame.subarray(from, at));
      from = at;
      this.#write(withId(bytes, idAt, id));
    };
    if (this.#first !== undefined) take(this.#first, this.#firstIdAt, this.#firstId);
    if (this.#others !== undefined) for (const { bytes, idAt, id } of this.#others) take(bytes, idAt, id);
    this.#first = undefined;
    this.#others = undefined;
    this.#gatheredBytes = 0;
    this.#copiedBytes = 0;
    if (from === 0) this.#write(frame);
    else if (at > from) this.#write(frame.subarray(from, at));
  }

  #schedule(): void {
    this.#isScheduled = true;
    this.#context.flusher.add(this);
  }

  #write(bytes: Uint8Array): void {
    // The frames of the WebSocket itself (close, pong) are written to the same socket, which keeps their order.
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  #account(bytes: number): void {
    const heldBytes = this.#socket.destroyed ? 0 : bytes;
    const change = heldBytes - this.#heldBytes;
    if (change === 0) return;
    if (this.#heldBytes === 0) this.#heldSinceMs = steadyNow(this.#context.scheduler);
    this.#heldBytes = heldBytes;
    this.#context.outboundBudget.change(change);
  }

  /** Nearly every write is taken at once: only behind others is a callback worth its price. */
  #watch(): void {
    if (this.#isWatched || !this.#socket.writable) return;
    this.#isWatched = true;
    this.#socket.write(NOTHING, () => {
      this.#isWatched = false;
      this.#heldSinceMs = steadyNow(this.#context.scheduler);
      this.#account(this.#socket.writableLength);
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
