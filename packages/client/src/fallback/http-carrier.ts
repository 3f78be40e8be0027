import { Alarm, type Timers } from '../environment.ts';
import { ABNORMAL } from '../limits.ts';
import { BUFFERED_BYTES_HIGH, type Carrier, type CarrierHandler } from './carrier.ts';

/** Facts about the way to the server, which outlive a connection. */
export interface HttpPath {
  /** A proxy holds responses back until they are whole: each one has to end to bring something. */
  isBuffered: boolean;
  /** Requests since the beginning. */
  requests: number;
}

export interface HttpCarrierOptions {
  readonly path: HttpPath;
  readonly timers: Timers;
  /** Headers of the handshake, from `wsOptions`. Browsers have none. */
  readonly headers?: Record<string, string> | undefined;
}

/** Bytes of one POST: with its line they are below the server's limit of 64 KiB. */
const POST_BYTES_MAX = 60 * 1024;

/** A POST that has failed is repeated with half of its bytes, as a slow network may be the reason, down to so many. */
const POST_BYTES_MIN = 1_024;

/** After so many bytes the client confirms what it has got: as many as the server sends in any case before it waits. */
const CONFIRM_BYTES = 16 * 1024;

/** A long response begins with a byte at once. When it has not come after this time, a proxy holds it back. */
const HELD_BACK_MS = 2_000;

/** A POST without an answer is repeated after this time. */
const POST_MS_MAX = 10_000;

/** A response that has not ended after this time has lost its server, which ends each after 25 seconds. */
const RESPONSE_MS_MAX = 40_000;

/** A failed request is repeated after the first of these, then after growing times up to the second. */
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 2_000;

/** After this time without any answer the server has given the link up. */
const LOST_MS = 30_000;

const NORMAL = 1000;
/** The first byte of a response: a full stop. */
const GREETING = 46;
const KEY = /^[\w-]{22}(?:@\S+)?$/;
/** The bytes that the server has taken, and those that it has sent. */
const TAKEN = /^(\d+) (\d+)$/;

const utf8 = new TextEncoder();
const EMPTY = new Uint8Array(0);

/** Statuses of a server that has no such link, or cannot go on with it. */
const GONE: readonly number[] = [404, 409];

/**
 * MQTT in HTTP requests (packages/node/src/http-streams/http-links.ts names them): bytes leave in POSTs, one after another,
 * and come in responses. Counts of bytes on both sides make it safe to repeat a request.
 */
export class HttpCarrier implements Carrier {
  readonly wire = 'http';
  readonly #url: string;
  readonly #options: HttpCarrierOptions;
  readonly #handler: CarrierHandler;
  /** Ends all requests. */
  readonly #ending = new AbortController();
  readonly #heldBack: Alarm;
  #key = '';
  #response: { readonly end: () => void } | undefined;
  #postBytesMax = POST_BYTES_MAX;
  #isClosed = false;
  #isClosing = false;
  #isPosting = false;
  /** Bytes of the server that have come, and those that it knows of. */
  #gotBytes = 0;
  #confirmedBytes = 0;
  /** Bytes that the server has taken; behind them the ones that wait. */
  #takenBytes = 0;
  #queue: Uint8Array[] = [];
  #whenRoom: (() => void)[] = [];
  #lastAnswerMs: number;
  #isPaused = false;
  #unpause: (() => void) | undefined;
  bufferedAmount = 0;

  constructor(url: string, options: HttpCarrierOptions, handler: CarrierHandler) {
    this.#url = url.replace(/^ws/, 'http');
    this.#options = options;
    this.#handler = handler;
    this.#heldBack = new Alarm(options.timers);
    this.#lastAnswerMs = options.timers.now();
    void this.#open();
  }

  send(bytes: Uint8Array, sent: () => void): void {
    if (this.#isClosed || this.#isClosing) return;
    // mqtt.js writes an empty topic by itself, and may use its bytes again.
    if (bytes.length > 0) this.#queue.push(bytes.slice());
    this.bufferedAmount += bytes.length;
    void this.#post();
    if (this.bufferedAmount <= BUFFERED_BYTES_HIGH) sent();
    else this.#whenRoom.push(sent);
  }

  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (!isPaused) this.#unpause?.();
  }

  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#closeOnceSent();
  }

  terminate(): void {
    this.#tellEnd();
    this.#end(ABNORMAL, '');
  }

  /** Without it the server keeps the link for a while. A page that is being closed may still send it. */
  #tellEnd(): void {
    if (this.#key !== '' && !this.#isClosed)
      void this.#ask(`end ${this.#key}`, EMPTY, { keepalive: true }).catch(() => {});
  }

  async #open(): Promise<void> {
    const { headers } = this.#options;
    const { signal } = this.#ending;
    try {
      const response = await this.#ask('open', EMPTY, { signal, ...(headers && { headers }) }, this.#url);
      const text = (await response.text()).trim();
      if (!response.ok || !KEY.test(text)) throw new Error(`HTTP ${response.status}: ${text.slice(0, 200)}`);
      this.#key = text;
    } catch (error) {
      this.#end(ABNORMAL, String(error));
      return;
    }
    if (this.#isClosed) return;
    this.#answered();
    this.#handler.opened(this);
    void this.#receive();
  }

  /** The query has a token, perhaps: only the first request needs it. */
  #ask(line: string, bytes: Uint8Array, init: RequestInit, url = this.#url.split('?', 1)[0] ?? '') {
    this.#options.path.requests += 1;
    const begin = utf8.encode(`${line}\n`);
    const body = new Uint8Array(begin.length + bytes.length);
    body.set(begin);
    body.set(bytes, begin.length);
    return fetch(url, { method: 'POST', body, credentials: 'include', ...init });
  }

  /** Asks for one response after another. The first one is short: it brings CONNACK through any proxy. */
  async #receive(): Promise<void> {
    const { path } = this.#options;
    let retryMs = RETRY_MS_MIN;
    for (let isLong = false; !this.#isClosed; isLong = !path.isBuffered) {
      const outcome = await this.#readResponse(isLong);
      if (outcome === 'gone') this.#end(ABNORMAL, 'the server has ended the link');
      if (outcome !== 'failed') retryMs = RETRY_MS_MIN;
      else retryMs = await this.#retryAfter(retryMs);
    }
  }

  async #readResponse(isLong: boolean): Promise<'ended' | 'failed' | 'gone'> {
    const response = this.#begin(RESPONSE_MS_MAX);
    this.#response = isLong ? response : undefined;
    if (isLong) this.#expectBytes();
    const beganMs = this.#options.timers.now();
    let bytes = 0;
    // A response that ends at once and brings nothing is not repeated at once.
    const outcome = () =>
      bytes > 1 || this.#options.timers.now() - beganMs > RETRY_MS_MAX ? 'ended' : 'failed';
    try {
      const got = this.#gotBytes;
      const line = `${isLong ? 'down' : 'poll'} ${this.#key} ${got}`;
      const { ok, status, body } = await this.#ask(line, EMPTY, { signal: response.signal });
      if (GONE.includes(status)) return 'gone';
      if (!ok || body === null) return 'failed';
      for (const reader = body.getReader(); ; ) {
        const { done, value } = await reader.read();
        if (done) return outcome();
        if (bytes === 0 && value[0] !== GREETING) return 'failed';
        this.#heldBack.clear();
        this.#answered();
        this.#confirmedBytes = Math.max(this.#confirmedBytes, got);
        this.#take(bytes === 0 ? value.subarray(1) : value);
        bytes += value.length;
        if (this.#isPaused) await this.#unpaused();
      }
    } catch {
      return outcome();
    } finally {
      this.#heldBack.clear();
      response.end();
    }
  }

  /** Begins a request that ends after this time, and with the carrier. */
  #begin(milliseconds: number): { readonly signal: AbortSignal; readonly end: () => void } {
    const request = new AbortController();
    const alarm = new Alarm(this.#options.timers);
    const end = () => {
      alarm.clear();
      this.#ending.signal.removeEventListener('abort', end);
      request.abort();
    };
    alarm.set(milliseconds, end);
    this.#ending.signal.addEventListener('abort', end);
    return { signal: request.signal, end };
  }

  /** The server has sent something. Unless it comes soon, a proxy holds it back. */
  #expectBytes(): void {
    if (this.#heldBack.isSet) return;
    this.#heldBack.set(HELD_BACK_MS, () => {
      this.#options.path.isBuffered = true;
      this.#response?.end();
    });
  }

  #take(bytes: Uint8Array): void {
    this.#gotBytes += bytes.length;
    if (bytes.length > 0) this.#handler.received(bytes);
    void this.#post();
  }

  get #hasToPost(): boolean {
    const isUnconfirmed = this.#gotBytes - this.#confirmedBytes >= CONFIRM_BYTES;
    return !this.#isClosed && this.#key !== '' && (this.bufferedAmount > 0 || isUnconfirmed);
  }

  /** One POST at a time brings what has been gathered meanwhile. */
  async #post(): Promise<void> {
    if (this.#isPosting || !this.#hasToPost) return;
    this.#isPosting = true;
    // The library writes the packets of a turn one by one.
    await new Promise<void>((resolve) => this.#options.timers.defer(resolve));
    let retryMs = RETRY_MS_MIN;
    while (this.#hasToPost) {
      const outcome = await this.#bring(this.#nextBytes());
      if (outcome === 'gone') return this.#end(ABNORMAL, 'the server has ended the link');
      const isTaken = outcome === 'taken';
      const postBytes = isTaken ? this.#postBytesMax * 2 : this.#postBytesMax / 2;
      this.#postBytesMax = Math.min(Math.max(postBytes, POST_BYTES_MIN), POST_BYTES_MAX);
      retryMs = isTaken ? RETRY_MS_MIN : await this.#retryAfter(retryMs);
    }
    this.#isPosting = false;
  }

  async #bring(bytes: Uint8Array): Promise<'taken' | 'failed' | 'gone'> {
    const post = this.#begin(POST_MS_MAX);
    try {
      const got = this.#gotBytes;
      const line = `up ${this.#key} ${got} ${this.#takenBytes} ${bytes.length}`;
      const response = await this.#ask(line, bytes, { signal: post.signal });
      if (GONE.includes(response.status)) return 'gone';
      const [, taken, sent] = TAKEN.exec((await response.text()).trim()) ?? [];
      // Another program may answer.
      if (!response.ok || !this.#isPossible(Number(taken))) return 'failed';
      this.#answered();
      this.#confirmedBytes = Math.max(this.#confirmedBytes, got);
      this.#dropTaken(Number(taken));
      if (Number(sent) > this.#gotBytes && this.#response !== undefined) this.#expectBytes();
      return 'taken';
    } catch {
      return 'failed';
    } finally {
      post.end();
    }
  }

  #nextBytes(): Uint8Array {
    const bytes = new Uint8Array(Math.min(this.bufferedAmount, this.#postBytesMax));
    let at = 0;
    for (const each of this.#queue) {
      if (at === bytes.length) break;
      const piece = each.subarray(0, bytes.length - at);
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  /** False for what is no number, too. */
  #isPossible(takenBytes: number): boolean {
    return takenBytes >= this.#takenBytes && takenBytes <= this.#takenBytes + this.bufferedAmount;
  }

  #dropTaken(takenBytes: number): void {
    let bytes = takenBytes - this.#takenBytes;
    this.#takenBytes = takenBytes;
    this.bufferedAmount -= bytes;
    while (bytes > 0) {
      const first = this.#queue.shift() ?? EMPTY;
      if (first.length > bytes) this.#queue.unshift(first.subarray(bytes));
      bytes -= first.length;
    }
    if (this.bufferedAmount <= BUFFERED_BYTES_HIGH) for (const sent of this.#whenRoom.splice(0)) sent();
    this.#closeOnceSent();
  }

  #answered(): void {
    this.#lastAnswerMs = this.#options.timers.now();
  }

  /** Waits before a failed request is repeated. Returns the next wait. */
  async #retryAfter(retryMs: number): Promise<number> {
    const { timers } = this.#options;
    if (timers.now() - this.#lastAnswerMs > LOST_MS) this.#end(ABNORMAL, 'the server does not answer');
    else await new Promise<void>((resolve) => timers.setTimeout(resolve, retryMs));
    return Math.min(retryMs * 2, RETRY_MS_MAX);
  }

  #unpaused(): Promise<void> {
    return new Promise((resolve) => {
      this.#unpause = resolve;
    });
  }

  #closeOnceSent(): void {
    if (!this.#isClosing || this.bufferedAmount > 0) return;
    this.#tellEnd();
    this.#end(NORMAL, '');
  }

  #end(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#heldBack.clear();
    this.#unpause?.();
    this.#ending.abort();
    this.#handler.closed(code, reason);
  }
}
