import type { Duplex } from 'node:stream';

/** A frame this large is written by itself: gathering it would copy it. */
const GATHERED_FRAME_BYTES_MAX = 16 * 1024;
/** So much is written without waiting for the end of the turn, so that the kernel has it early. */
const WRITE_BYTES = 64 * 1024;

/**
 * Flushes what the turn of the event loop has gathered, once and for all clients. One turn reads from many sockets,
 * so a busy subscriber gets the messages of many publishers in one write.
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

  push(bytes: Uint8Array): void {
    if (bytes.length > GATHERED_FRAME_BYTES_MAX) {
      this.flush();
      this.#write(bytes);
      return;
    }
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
    if (this.#gatheredBytes >= WRITE_BYTES) this.flush();
    else if (!this.#scheduled) this.#schedule();
  }

  flush(): void {
    this.#scheduled = false;
    const [first] = this.#gathered;
    if (first === undefined) return;
    const bytes = this.#gathered.length === 1 ? first : Buffer.concat(this.#gathered, this.#gatheredBytes);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#write(bytes);
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
