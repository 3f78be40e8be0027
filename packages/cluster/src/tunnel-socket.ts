import { Duplex } from 'node:stream';

/** How the bytes of a client leave for the process that it is connected to. */
export interface TunnelEnd {
  send(bytes: Buffer): void;
  /** Bytes that were handed out have been read. */
  taken(bytes: number): void;
  closed(): void;
}

/**
 * The connection of a client that is connected to another process, as a socket: its bytes are those of the client's own.
 * At most a window of bytes is under way in each direction.
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

  /** The client's process has written so many bytes to the client. */
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

  /** The client's process closes the connection behind what was sent: nothing comes back. */
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
    // The link may write into its buffer again.
    if (chunk.length > 0) this.#end.send(Buffer.from(chunk));
    done();
  }
}
