import type { Duplex } from 'node:stream';
import { frameHeader } from './web-socket-frame.ts';

/** Bytes this many are written by themselves: gathering them would copy them. */
const GATHERED_BYTES_MAX = 16 * 1024;
/** So much is written without waiting for the end of the turn, so that the kernel has it early. */
const WRITE_BYTES = 64 * 1024;

/**
 * Flushes what the turn of the event loop has gathered, once and for all clients. One turn reads from many sockets,
 * so a busy subscriber gets the messages of many publishers in one write, and in one frame: a browser has more work with a
 * frame than with a packet.
 */
export class Flusher {
  #waiting: Outbox[] = [];

  add(outbox: Outbox): void {
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    this.#waiting.push(outbox);
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const outbox of waiting) outbox.flush();
  }
}

/** The bytes on their way to one client, in order, and how many have not left yet. */
export class Outbox {
  readonly #socket: Duplex;
  readonly #flusher: Flusher;
  readonly #written: () => void;
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  #scheduled = false;

  /** `written` is called whenever bytes have left this process. */
  constructor(socket: Duplex, flusher: Flusher, written: () => void) {
    this.#socket = socket;
    this.#flusher = flusher;
    this.#written = written;
  }

  /** Bytes that the kernel has not taken. */
  get bufferedBytes(): number {
    return this.#gatheredBytes + this.#socket.writableLength;
  }

  /** @param tail the rest of the packet, where it is not copied */
  push(packet: Uint8Array, tail?: Uint8Array): void {
    this.#gather(packet);
    if (tail !== undefined) this.#gather(tail);
    if (this.#gatheredBytes >= WRITE_BYTES) this.flush();
    else if (this.#gatheredBytes > 0 && !this.#scheduled) this.#schedule();
  }

  flush(): void {
    this.#scheduled = false;
    if (this.#gatheredBytes > 0) this.#writeFrame();
  }

  #gather(bytes: Uint8Array): void {
    if (bytes.length > GATHERED_BYTES_MAX) {
      this.#writeFrame(bytes);
      return;
    }
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
  }

  /** Writes the gathered bytes, and those that follow in the same frame: a packet may be cut between them. */
  #writeFrame(large?: Uint8Array): void {
    const header = frameHeader(this.#gatheredBytes + (large?.length ?? 0));
    const bytes = Buffer.concat([header, ...this.#gathered], header.length + this.#gatheredBytes);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#write(bytes);
    if (large !== undefined) this.#write(large);
  }

  #schedule(): void {
    this.#scheduled = true;
    this.#flusher.add(this);
  }

  #write(bytes: Uint8Array): void {
    // Written past `ws`, which would frame each packet anew for each recipient; it buffers nothing itself while
    // there is no compression, so the order between its frames (close, pong) and ours is the socket's.
    if (this.#socket.writable) this.#socket.write(bytes, this.#written);
  }
}
