import { Duplex } from 'node:stream';
import { steadyNow } from '@apus/broker';
import type { Scheduler } from '@apus/door';
import type { BytesBudget, BytesHolder } from '../bytes-budget.ts';
import { refuse, refuseUnknown } from './http-exchange.ts';
import {
  POST_BYTES_MAX,
  RESPONSE_MS_MAX,
  SILENCE_MS_MAX,
  UNCONFIRMED_BYTES_MAX,
} from './http-link-limits.ts';

/** Begins each response: a client that does not get it at once is behind a proxy that holds responses back. */
const GREETING = '200\n.';

export interface HttpLinkOptions {
  readonly scheduler: Scheduler;
  /** Bounds the unconfirmed bytes of all links. */
  readonly budget: BytesBudget;
  /** The address from which the link was opened. */
  readonly host: string | undefined;
}

/** Bytes of a client in one POST: `length` bytes behind the first `at`. */
interface Piece {
  readonly at: number;
  readonly length: number;
}

/**
 * The connection of a client that cannot open a WebSocket, as a socket: the bytes of MQTT, which come in POSTs and leave
 * in responses. Each request says where its bytes begin and how many the client has got, so that a request may be
 * repeated, and a response may be cut anywhere.
 */
export class HttpLinkSocket extends Duplex implements BytesHolder {
  readonly #options: HttpLinkOptions;
  /** The POST whose bytes are read. */
  #post: Duplex | undefined;
  /** The response on which bytes leave. */
  #response: Duplex | undefined;
  /** The response ends when it has brought something. */
  #isShort = false;
  #receivedBytes = 0;
  /** Bytes that the client has got since the beginning; behind them those that it may have got. */
  #confirmedBytes = 0;
  #unconfirmed: Buffer[] = [];
  #unconfirmedBytes = 0;
  #heldSinceMs = 0;
  #waiting: { chunk: Buffer; done: () => void } | undefined;
  /** Called when the client has everything. Undefined: the server may send more. */
  #finished: (() => void) | undefined;
  #hasClient = true;
  #cancelTimer = () => {};

  constructor(options: HttpLinkOptions) {
    super({ allowHalfOpen: false, readableHighWaterMark: POST_BYTES_MAX });
    this.#options = options;
    this.#awaitResponse();
  }

  get host(): string | undefined {
    return this.#options.host;
  }

  get heldBytes(): number {
    return this.#unconfirmedBytes;
  }

  get heldSinceMs(): number {
    return this.#heldSinceMs;
  }

  overload(): void {
    this.destroy();
  }

  /** The client asks for what follows after `got` bytes. False: it is refused. */
  down(exchange: Duplex, got: number, isShort: boolean): boolean {
    if (got < this.#confirmedBytes || !this.#confirm(got)) {
      refuse(exchange, 409, 'The link does not have the bytes that follow.');
      return false;
    }
    if (this.destroyed) {
      refuseUnknown(exchange);
      return false;
    }
    // A proxy may keep an older response open that has lost its client.
    this.#response?.destroy();
    this.#response = exchange;
    this.#isShort = isShort;
    exchange.once('close', () => {
      if (this.#response === exchange) this.#endResponse();
    });
    exchange.resume();
    exchange.write(GREETING);
    this.#after(RESPONSE_MS_MAX, () => this.#endResponse());
    for (const bytes of this.#unconfirmed) exchange.write(bytes);
    if (this.#finished !== undefined || (isShort && this.#unconfirmedBytes > 0)) this.#endResponse();
    this.#fill();
    return true;
  }

  /**
   * Takes bytes of the client. A piece that the link has got already is not taken twice.
   *
   * @param first the bytes of the request that have been read
   */
  up(exchange: Duplex, got: number, { at, length }: Piece, first: Buffer): void {
    if (length > POST_BYTES_MAX) {
      refuse(exchange, 413, `A POST has at most ${POST_BYTES_MAX} bytes.`);
      return;
    }
    if (at > this.#receivedBytes || !this.#confirm(got)) {
      refuse(exchange, 409, 'The bytes before these have not come.');
      return;
    }
    if (this.destroyed) {
      refuseUnknown(exchange);
      return;
    }
    this.#post?.destroy();
    this.#post = exchange;
    exchange.once('close', () => {
      if (this.#post === exchange) this.#post = undefined;
    });
    let next = at;
    const end = at + length;
    const take = (chunk: Buffer) => {
      const bytes = chunk.subarray(this.#receivedBytes - next, end - next);
      next += chunk.length;
      // The POST is answered, also where its bytes end the link.
      if (next >= end) this.#post = undefined;
      if (bytes.length > 0 && !this.#take(bytes)) exchange.pause();
      if (next < end) return;
      exchange.off('data', take);
      exchange.end(`200\n${this.#receivedBytes} ${this.#confirmedBytes + this.#unconfirmedBytes}\n`);
    };
    exchange.on('data', take);
    exchange.once('end', () => {
      if (next < end) refuse(exchange, 400, `The body has fewer than ${length} bytes.`);
    });
    // Bytes that the node does not read yet wait in the POST.
    if (length > 0 && this.readableLength >= POST_BYTES_MAX) {
      exchange.unshift(first);
      return;
    }
    exchange.resume();
    take(first);
  }

  /** The client has closed the link: what it has sent is still read, and it is sent nothing more. */
  endOfClient(): void {
    this.#hasClient = false;
    this.#cancelTimer();
    this.#post?.destroy();
    this.#response?.destroy();
    this.#response = undefined;
    this.#confirm(this.#confirmedBytes + this.#unconfirmedBytes);
    this.push(null);
  }

  override _read(): void {
    this.#post?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#waiting = { chunk, done };
    this.#fill();
  }

  /** The server sends no more. The link ends when its client has confirmed all bytes. */
  override _final(done: () => void): void {
    this.#finished = done;
    this.#endResponse();
    this.#finish();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#cancelTimer();
    for (const exchange of [this.#post, this.#response]) exchange?.destroy();
    this.#options.budget.change(-this.#unconfirmedBytes);
    this.#unconfirmedBytes = 0;
    this.#unconfirmed = [];
    done(error);
  }

  #take(bytes: Buffer): boolean {
    this.#receivedBytes += bytes.length;
    return this.destroyed || this.push(bytes);
  }

  /** False: the client confirms more than it can have got. */
  #confirm(got: number): boolean {
    let bytes = got - this.#confirmedBytes;
    if (bytes > this.#unconfirmedBytes) return false;
    if (bytes <= 0) return true;
    this.#confirmedBytes = got;
    this.#hold(-bytes);
    while (bytes > 0) {
      const first = this.#unconfirmed.shift() ?? EMPTY;
      if (first.length > bytes) this.#unconfirmed.unshift(first.subarray(bytes));
      bytes -= first.length;
    }
    this.#fill();
    this.#finish();
    return true;
  }

  /** Sends as much as may be unconfirmed. */
  #fill(): void {
    while (this.#waiting !== undefined && !this.destroyed) {
      const room = this.#roomBytes;
      if (room <= 0) return;
      const { chunk, done } = this.#waiting;
      const bytes = chunk.subarray(0, room);
      const isWhole = bytes.length === chunk.length;
      this.#waiting = isWhole ? undefined : { chunk: chunk.subarray(room), done };
      if (bytes.length > 0) this.#send(bytes);
      if (isWhole) done();
    }
  }

  get #roomBytes(): number {
    return Math.min(UNCONFIRMED_BYTES_MAX, this.#options.budget.shareBytes) - this.#unconfirmedBytes;
  }

  #send(bytes: Buffer): void {
    if (!this.#hasClient) return;
    this.#unconfirmed.push(bytes);
    this.#hold(bytes.length);
    this.#response?.write(bytes);
    if (this.#isShort) this.#endResponse();
  }

  #hold(bytes: number): void {
    this.#heldSinceMs = steadyNow(this.#options.scheduler);
    this.#unconfirmedBytes += bytes;
    this.#options.budget.change(bytes);
  }

  #endResponse(): void {
    const response = this.#response;
    if (response === undefined) return;
    this.#response = undefined;
    response.end();
    this.#awaitResponse();
  }

  #awaitResponse(): void {
    if (!this.destroyed) this.#after(SILENCE_MS_MAX, () => this.destroy());
  }

  #finish(): void {
    if (this.#finished === undefined || this.#unconfirmedBytes > 0) return;
    this.#finished();
    this.destroy();
  }

  #after(milliseconds: number, act: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.scheduler.after(milliseconds, act);
  }
}

const EMPTY = Buffer.alloc(0);
