import { Duplex } from 'node:stream';

/** Sends the bytes for a client to the process to which it is connected. */
export interface TunnelEnd {
  send(bytes: Buffer): void;
  /** So many bytes from the client have been read. */
  taken(bytes: number): void;
  closed(): void;
}

/**
 * The connection of a client that is connected to another process, as a socket. At most a window of bytes is under way
 * in each direction.
 */
export class TunnelSocket extends Duplex {
  readonly #end: TunnelEnd;
  #room: number;
  #waiting: { chunk: Buffer; done: (error?: Error | null) => void } | undefined;
  #unread = 0;

  constructor(end: TunnelEnd, windowBytes: number) {
    super({ allowHalfOpen: false });
    this.#end = end;
    this.#room = windowBytes;
  }

  /** Bytes of the client. */
  receive(bytes: Buffer): void {
    if (this.destroyed) return;
    if (this.push(bytes)) this.#end.taken(bytes.length);
    else this.#unread += bytes.length;
  }

  /** The other process has written so many bytes to the client. */
  written(bytes: number): void {
    this.#room += bytes;
    const waiting = this.#waiting;
    if (waiting === undefined || this.#room <= 0) return;
    this.#waiting = undefined;
    this.#write(waiting.chunk, waiting.done);
  }

  /** The client has gone. */
  finish(): void {
    this.push(null);
    this.destroy();
  }

  override _read(): void {
    if (this.#unread === 0) return;
    this.#end.taken(this.#unread);
    this.#unread = 0;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#write(chunk, done);
  }

  /** The other process closes the connection after what was sent. No answer comes. */
  override _final(done: (error?: Error | null) => void): void {
    done();
    this.destroy();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#end.closed();
    done(error);
  }

  #write(chunk: Buffer, done: (error?: Error | null) => void): void {
    if (this.#room <= 0) {
      this.#waiting = { chunk, done };
      return;
    }
    this.#room -= chunk.length;
    // The link may reuse its buffer.
    if (chunk.length > 0) this.#end.send(Buffer.from(chunk));
    done();
  }
}
