import type { Violation } from '@apus/mqtt';
import type { WebSocket } from 'ws';
import type { Inbound } from './inbound.ts';
import type { InboundBudget } from './inbound-budget.ts';
import type { NodeLimits } from './limits.ts';
import { OPENING_BYTES, openingViolation } from './opening.ts';
import type { Scheduler } from './scheduler.ts';
import { UnfinishedMessage } from './unfinished-message.ts';

/** The time for telling a client why it is no longer read from: its bytes are kept until then. */
const DEAF_MS = 250;

export interface ReadingContext {
  readonly limits: Pick<NodeLimits, 'connectBytesMax' | 'inboundBufferBytesMax'>;
  /** Of all clients. */
  readonly budget: InboundBudget;
  readonly scheduler: Scheduler;
}

/** The link that is read for. */
export interface Reader {
  readonly isConnected: boolean;
  readonly isClosing: boolean;
  /** The client has sent more than its identity may for now: it is not read from at all until it may go on. */
  readonly hasToWait: boolean;
  /** Answers a client that has sent too much before CONNACK. */
  refuse(violation: Violation): void;
  terminate(): void;
}

/** Bounds how much is read from one client, and holds the bytes that the broker has not yet taken. */
export class Reading {
  readonly #context: ReadingContext;
  readonly #reader: Reader;
  readonly #socket: Pick<WebSocket, 'pause' | 'resume'>;
  readonly #inbound: Inbound;
  readonly #unfinished = new UnfinishedMessage();
  /** The first bytes on the wire, until CONNACK. */
  #opening: readonly number[] | undefined;
  #isPaused = false;
  #isDeaf = false;
  #heldBytes = 0;
  #heldSinceMs = 0;

  constructor(
    context: ReadingContext,
    reader: Reader,
    socket: Pick<WebSocket, 'pause' | 'resume'>,
    inbound: Inbound,
  ) {
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

  /** Bytes from the wire, as they came. */
  push(chunk: Uint8Array): void {
    if (this.#isDeaf) return;
    this.#unfinished.push(chunk);
    this.#account(this.#unfinished.weight + this.#inbound.heldBytes);
    if (!this.#reader.isConnected) this.#boundOpening(chunk);
    else if (this.#opening !== undefined) this.#opening = undefined;
  }

  /** Pauses while too much waits, and goes on when half of it is gone. */
  regulate(waitingBytes: number): void {
    if (this.#isDeaf) return;
    this.#account(this.#unfinished.weight + this.#inbound.heldBytes);
    const bytesMax = this.#waitingBytesMax;
    if (!this.#isPaused && waitingBytes >= bytesMax) this.#pause();
    else if (this.#isPaused && waitingBytes < bytesMax / 2) this.#resume();
  }

  /** The client's answer to a close has to be read, also from a socket that was paused. */
  awaitClose(): void {
    if (!this.#isDeaf) this.#resume();
  }

  /** Gives up what the client has begun to send: it is told why, and then cut off. */
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

  get #waitingBytesMax(): number {
    const { inboundBufferBytesMax, connectBytesMax } = this.#context.limits;
    if (this.#reader.hasToWait) return 1;
    return this.#reader.isConnected
      ? inboundBufferBytesMax
      : Math.min(inboundBufferBytesMax, connectBytesMax);
  }

  /** Before CONNACK a client is not known, and `ws` would gather megabytes of a message for it [SEC-MEMORY-1]. */
  #boundOpening(chunk: Uint8Array): void {
    const opening = this.#opening ?? [];
    const missing = OPENING_BYTES - opening.length;
    if (missing > 0) this.#opening = [...opening, ...chunk.subarray(0, missing)];
    const { connectBytesMax } = this.#context.limits;
    if (this.#isDeaf || this.#unfinished.payloadBytes <= connectBytesMax) return;
    if (!this.#reader.isClosing && this.#inbound.hasConnect) {
      this.#pause();
      return;
    }
    const refuses = !this.#reader.isClosing;
    this.stop();
    if (refuses) this.#reader.refuse(openingViolation(Uint8Array.from(opening), connectBytesMax));
  }

  #account(heldBytes: number): void {
    const change = heldBytes - this.#heldBytes;
    if (change === 0) return;
    if (this.#heldBytes === 0) this.#heldSinceMs = this.#context.scheduler.now();
    this.#heldBytes = heldBytes;
    this.#context.budget.change(change);
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
