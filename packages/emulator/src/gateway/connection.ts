import { WebSocket } from 'ws';
import { BILLED_MESSAGE_BYTES } from '../limits.ts';
import type { AuthorizerContext, Identity } from './events.ts';

/** The socket that carries messages to a client: a `ws`, or one inside this process. */
export interface ClientSocket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(text: string, options: { readonly binary: boolean }, done: () => void): void;
  close(code: number, reason: string): void;
  terminate(): void;
  pause(): void;
}

/** A client's connection: `connecting` until `$connect` has accepted it, `closed` from the first sign of its end. */
export class Connection {
  readonly id: string;
  readonly connectedAtMs: number;
  readonly identity: Identity;
  authorizer: AuthorizerContext | undefined;
  state: 'connecting' | 'open' | 'closed' = 'connecting';
  /** The last message in either direction. */
  lastActiveAtMs: number;
  /** Messages from the client that wait for an invocation or run in one. */
  pendingMessages = 0;
  /** One of them has been handled. */
  handled: () => void = () => {};
  /** Cancels the timers of its life. */
  cancelTimers: () => void = () => {};
  /** Sends the posts that the fault `postOvertaken` holds back. */
  overtaken: () => void = () => {};
  #socket: ClientSocket | undefined;
  #lost = false;
  #swallowedBytes = 0;

  constructor(id: string, connectedAtMs: number, identity: Identity) {
    this.id = id;
    this.connectedAtMs = connectedAtMs;
    this.lastActiveAtMs = connectedAtMs;
    this.identity = identity;
  }

  /** The socket of a connection that `$connect` has accepted. */
  attach(socket: ClientSocket): void {
    this.#socket = socket;
    this.state = 'open';
  }

  /** The network is gone and the gateway has not noticed. */
  get lost(): boolean {
    return this.#lost;
  }

  /** As far as the gateway knows. */
  get reachable(): boolean {
    return this.state === 'open' && (this.#lost || this.#socket?.readyState === WebSocket.OPEN);
  }

  /** Bytes that were sent and the client has not read, beyond the operating system's buffer. */
  get bufferedBytes(): number {
    return this.#swallowedBytes + (this.#socket?.bufferedAmount ?? 0);
  }

  /** One text message, or several of at most 32 KB. */
  send(text: string, split: boolean): void {
    if (this.#lost) this.#swallowedBytes += Buffer.byteLength(text);
    else
      for (const piece of split ? pieces(text) : [text])
        this.#socket?.send(piece, { binary: false }, () => {});
  }

  close(code: number, reason: string): void {
    if (this.#lost) this.terminate();
    else this.#socket?.close(code, reason);
  }

  /** Breaks the TCP connection without a close frame. */
  terminate(): void {
    this.#socket?.terminate();
  }

  /** Drops all further data; the TCP connection breaks at once, or stays as if a cable had been pulled. */
  lose(clientNotices: boolean): void {
    this.#lost = true;
    if (clientNotices) this.terminate();
    else this.#socket?.pause();
  }
}

/** Cuts at 32 KB, but never inside a character. */
function* pieces(text: string): Generator<string> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; ) {
    let end = Math.min(start + BILLED_MESSAGE_BYTES, bytes.length);
    while (end < bytes.length && isContinuationByte(bytes[end])) end -= 1;
    yield bytes.toString('utf8', start, end);
    start = end;
  }
}

function isContinuationByte(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
