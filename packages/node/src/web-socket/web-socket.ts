import type { Socket } from 'node:net';
import type { Scheduler } from '@apus/door';
import type { Transport, TransportHandler } from '../transport.ts';
import { ABNORMAL_CLOSURE, NO_STATUS, readClosePayload } from './close-payload.ts';
import { type FrameHandler, FrameReader } from './frame-reader.ts';
import { FrameViolation } from './frame-violation.ts';
import { type ControlOpcode, closeFrame, controlFrame, Opcode } from './frames.ts';
import { letGo, own, type SocketOwner } from './socket-owner.ts';

/** Pongs that may wait for a client that sends pings and reads nothing. Beyond it pings are not answered. */
const PONG_BACKLOG_BYTES_MAX = 16 * 1024;

/** Pings that are answered of those that were read at once. RFC 6455, section 5.5.3, asks for the last one alone. */
const PONGS_AT_ONCE_MAX = 32;

export interface WebSocketHandler extends TransportHandler {
  /** The client broke RFC 6455, or sent text: the close that says so is on its way. */
  violated(violation: FrameViolation): void;
}

export interface WebSocketOptions {
  readonly messageBytesMax: number;
  /** The time for the client to answer a close, and to go. */
  readonly closeTimeoutMs: number;
  readonly scheduler: Scheduler;
}

/** The server's side of one WebSocket (RFC 6455), over a socket whose handshake is over. */
export class WebSocket implements Transport, FrameHandler, SocketOwner {
  readonly wire = 'websocket';
  readonly #socket: Socket;
  readonly #options: WebSocketOptions;
  readonly #handler: WebSocketHandler;
  readonly #frames: FrameReader;
  #isOpen = true;
  /** The client has sent its close, or something after which no frame is read. */
  #isDone = false;
  #closeCode = ABNORMAL_CLOSURE;
  #cancelCut: (() => void) | undefined;
  /** Pongs to the pings of one chunk. */
  #pongs: Uint8Array[] = [];
  /** Copies of everything that was read, while the socket may be released. */
  #read: Buffer[] | undefined;

  /** @param isReleasable the socket may be released before anything is sent */
  constructor(socket: Socket, options: WebSocketOptions, handler: WebSocketHandler, isReleasable = false) {
    this.#socket = socket;
    this.#options = options;
    this.#handler = handler;
    this.#frames = new FrameReader(options.messageBytesMax);
    if (isReleasable) this.#read = [];
    own(socket, this);
  }

  keep(): void {
    this.#read = undefined;
  }

  release(): { readonly socket: Socket; readonly read: readonly Buffer[] } {
    const read = this.#read ?? [];
    this.#isOpen = false;
    this.#isDone = true;
    this.#read = undefined;
    letGo(this.#socket);
    return { socket: this.#socket, read };
  }

  get socket(): Socket {
    return this.#socket;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  begin(head: Uint8Array): void {
    if (head.length > 0) this.received(head);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Begins the closing handshake (section 7.1.2); a client that does not answer in time is cut off. */
  close(code: number, reason: string): void {
    if (this.#isOpen) this.#sendClose(code, reason);
  }

  terminate(): void {
    this.#isOpen = false;
    this.#socket.destroy();
  }

  data(bytes: Uint8Array, start: number, end: number): void {
    if (!this.#isDone) this.#handler.received(bytes, start, end);
  }

  control(opcode: ControlOpcode, payload: Uint8Array): void {
    if (this.#isDone) return;
    if (opcode === Opcode.Ping && this.#pongs.length < PONGS_AT_ONCE_MAX)
      this.#pongs.push(controlFrame(Opcode.Pong, payload));
    else if (opcode === Opcode.Close) this.#takeClose(payload);
  }

  violated(violation: FrameViolation): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const wasOpen = this.#isOpen;
    this.close(violation.code, violation.reason);
    if (wasOpen) this.#handler.violated(violation);
    // No frame is read after it, so the client's answer is not recognised, but its end is.
    this.#socket.end();
  }

  /** Called by the socket. */
  received(chunk: Uint8Array): void {
    // Frames are unmasked in their place.
    this.#read?.push(Buffer.from(chunk));
    if (this.#isDone) return;
    this.#frames.push(chunk, chunk.length, this);
    this.#sendPongs();
    this.#handler.arrived(chunk.length);
  }

  #sendPongs(): void {
    if (this.#pongs.length === 0) return;
    if (this.#isOpen && this.#socket.writableLength <= PONG_BACKLOG_BYTES_MAX)
      this.#socket.write(Buffer.concat(this.#pongs));
    this.#pongs = [];
  }

  /** Answers the first close with the same code (section 5.5.1). Then the server ends first. */
  #takeClose(payload: Uint8Array): void {
    const code = readClosePayload(payload);
    if (code instanceof FrameViolation) {
      this.violated(code);
      return;
    }
    this.#isDone = true;
    this.#closeCode = code;
    if (this.#isOpen) this.#sendClose(code === NO_STATUS ? undefined : code);
    this.#socket.end();
  }

  #sendClose(code: number | undefined, reason = ''): void {
    this.#sendPongs();
    this.#isOpen = false;
    if (this.#socket.writable) this.#socket.write(closeFrame(code, reason));
    const { scheduler, closeTimeoutMs } = this.#options;
    this.#cancelCut ??= scheduler.after(closeTimeoutMs, () => this.#socket.destroy());
  }

  /** The client sends no more, so the server ends too. */
  ended(): void {
    this.#isOpen = false;
    this.#isDone = true;
    // Most sockets have ended after their close. Node.js makes an error of a second end, with a stack that no caller
    // reads.
    if (!this.#socket.writableEnded) this.#socket.end();
  }

  closed(): void {
    this.#isOpen = false;
    this.#isDone = true;
    this.#cancelCut?.();
    this.#handler.closed(`the WebSocket closed with ${this.#closeCode}`);
  }
}
