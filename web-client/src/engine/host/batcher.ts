import { BATCH_BYTES_MAX, BATCH_INTERVAL_MS, BATCH_MESSAGES_MAX } from '../limits.ts';
import type { Batch } from '../protocol.ts';
import { BatchBuilder, type NewMessage } from './batch-builder.ts';

/** Calls back later; a test's calls when it says so. Returns how to cancel. */
export type Later = (callback: () => void, delayMs: number) => () => void;

/** Where a packet's bytes are: an offset, and the batch that it counts in. */
export interface Place {
  readonly generation: number;
  readonly offset: number;
}

/**
 * Sends what gathers as batches, one at a time: the next leaves when the page has taken the last one. A page that takes
 * none for long cannot make the worker grow: what it missed is let go and counted.
 */
export class Batcher {
  readonly #send: (batch: Batch) => void;
  readonly #later: Later;
  readonly #builder = new BatchBuilder();
  #cancelTimer: (() => void) | undefined;
  #isOutstanding = false;
  #skipped = 0;
  /** Which batch is being gathered. */
  #generation = 0;

  constructor(send: (batch: Batch) => void, later: Later) {
    this.#send = send;
    this.#later = later;
  }

  /** Messages that the page never saw. */
  get skipped(): number {
    return this.#skipped;
  }

  /** @returns where its bytes are, for the message that it carries */
  packet(bytes: Uint8Array, atMs: number, isOut: boolean): Place {
    this.#makeRoom(bytes.length);
    const offset = this.#builder.addPacket(bytes, atMs, isOut);
    this.#schedule();
    return { generation: this.#generation, offset };
  }

  /** A message whose PUBLISH is `bytes`, which travel again if the batch with their row has left. */
  message(message: NewMessage, bytes: Uint8Array, place: Place | undefined): void {
    this.#makeRoom(bytes.length);
    const isHere = place?.generation === this.#generation;
    const offset = isHere ? place.offset : this.#builder.addBytes(bytes);
    this.#builder.addMessage(message, offset, bytes.length);
    this.#schedule();
  }

  /** The page has taken the last batch. */
  taken(): void {
    this.#isOutstanding = false;
    if (!this.#builder.isEmpty) this.#schedule();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #makeRoom(bytes: number): void {
    const { messageCount, byteLength } = this.#builder;
    if (messageCount < BATCH_MESSAGES_MAX && byteLength + bytes <= BATCH_BYTES_MAX) return;
    this.#skipped += messageCount;
    this.#restart();
  }

  #schedule(): void {
    if (this.#isOutstanding || this.#cancelTimer !== undefined) return;
    this.#cancelTimer = this.#later(() => {
      this.#cancelTimer = undefined;
      this.#isOutstanding = true;
      const batch = this.#builder.build();
      this.#restart();
      this.#send(batch);
    }, BATCH_INTERVAL_MS);
  }

  #restart(): void {
    this.#builder.reset();
    this.#generation += 1;
  }
}
