import { steadyNow } from '@apus/broker';
import type { Inbound, Scheduler } from '@apus/door';
import type { BytesBudget } from './bytes-budget.ts';
import type { NodeLimits } from './limits.ts';

/** How long a client that is given up keeps its bytes, so that it can be told why. */
const DEAF_MS = 250;

export interface ReadingContext {
  readonly limits: Pick<NodeLimits, 'connectBytesMax' | 'inboundBufferBytesMax'>;
  /** Bounds the unfinished messages of all clients. */
  readonly inboundBudget: BytesBudget;
  readonly scheduler: Scheduler;
}

/** The link for which a socket is read. */
export interface Reader {
  readonly isConnected: boolean;
  /** The client has sent more than its identity may: its socket is not read until it may go on. */
  readonly hasToWait: boolean;
  terminate(): void;
}

/** A socket that can be left unread. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/** Limits how much is read from one client. */
export class Reading {
  readonly #context: ReadingContext;
  readonly #reader: Reader;
  readonly #socket: Pausable;
  readonly #inbound: Inbound;
  #isPaused = false;
  #isDeaf = false;
  #heldBytes = 0;
  #heldSinceMs = 0;

  constructor(context: ReadingContext, reader: Reader, socket: Pausable, inbound: Inbound) {
    this.#context = context;
    this.#reader = reader;
    this.#socket = socket;
    this.#inbound = inbound;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get heldSinceMs(): number {
    return this.#heldSinceMs;
  }

  /** The client has been given up: nothing more is read from it. */
  get isDeaf(): boolean {
    return this.#isDeaf;
  }

  /** Pauses while too much waits, and goes on when half of it is left. */
  regulate(): void {
    if (this.#isDeaf) return;
    this.#account(this.#inbound.heldBytes);
    // The budget may have ended this connection.
    if (this.#isDeaf) return;
    const { bytes } = this.#inbound;
    if (bytes === 0 && !this.#isPaused) return;
    const bytesMax = this.#waitingBytesMax;
    if (!this.#isPaused && bytes >= bytesMax) this.#pause();
    else if (this.#isPaused && bytes < bytesMax / 2) this.#resume();
  }

  /** Reads the client's answer to a close, even from a paused socket. */
  awaitClose(): void {
    if (!this.#isDeaf && this.#isPaused) this.#resume();
  }

  /** Gives up the client: tells it why, and then cuts it off. */
  stop(): void {
    if (this.#isDeaf) return;
    this.#isDeaf = true;
    this.#account(0);
    this.#pause();
    this.#context.scheduler.after(DEAF_MS, () => this.#reader.terminate());
  }

  /** The connection is gone. */
  end(): void {
    this.#isDeaf = true;
    this.#account(0);
  }

  /** Before CONNACK a client is not known, and less is read from it [SEC-MEMORY-1]. */
  get #waitingBytesMax(): number {
    const { inboundBufferBytesMax, connectBytesMax } = this.#context.limits;
    if (this.#reader.hasToWait) return 1;
    return this.#reader.isConnected
      ? inboundBufferBytesMax
      : Math.min(inboundBufferBytesMax, connectBytesMax);
  }

  #account(heldBytes: number): void {
    const change = heldBytes - this.#heldBytes;
    if (change === 0) return;
    if (this.#heldBytes === 0) this.#heldSinceMs = steadyNow(this.#context.scheduler);
    this.#heldBytes = heldBytes;
    this.#context.inboundBudget.change(change);
  }

  #pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  #resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
  }
}
