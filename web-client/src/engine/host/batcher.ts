import { BATCH_BYTES_MAX, BATCH_INTERVAL_MS, BATCH_MESSAGES_MAX } from '../limits.ts';
import type { Batch, FrameRow, PublishOutcome } from '../protocol.ts';
import type { LogMark } from '../types.ts';
import { BatchBuilder, type NewMessage } from './batch-builder.ts';
import type { MessageKeeper } from './message-keeper.ts';

/** Calls back later; in a test when the test says so. Returns a function that cancels it. */
export type Later = (callback: () => void, delayMs: number) => () => void;

/** The place of a packet's bytes: an offset, and the number of its batch. */
export interface Place {
  /** The packet's own number, ascending. */
  readonly id: number;
  readonly generation: number;
  readonly offset: number;
}

/**
 * Sends packets and messages to the page in batches, one at a time: the next leaves when the page has taken the last
 * one. If the page takes none for long, the worker does not grow: it drops messages and counts them.
 */
export class Batcher {
  readonly #send: (batch: Batch) => void;
  readonly #later: Later;
  readonly #keeper: MessageKeeper | undefined;
  readonly #builder = new BatchBuilder();
  #cancelTimer: (() => void) | undefined;
  #isOutstanding = false;
  #skipped = 0;
  /** The number of the batch that is being built. */
  #generation = 0;
  #lastPacketId = 0;

  /** @param keeper gets every message, including those that a busy page never sees */
  constructor(send: (batch: Batch) => void, later: Later, keeper?: MessageKeeper) {
    this.#send = send;
    this.#later = later;
    this.#keeper = keeper;
  }

  /** Messages that the page never saw. */
  get skipped(): number {
    return this.#skipped;
  }

  /** @returns the place of its bytes, for the message that it carries */
  packet(bytes: Uint8Array, atMs: number, isOut: boolean): Place {
    this.#makeRoom(bytes.length, atMs);
    this.#lastPacketId += 1;
    const id = this.#lastPacketId;
    const offset = this.#builder.addPacket(id, bytes, atMs, isOut);
    this.#schedule();
    return { id, generation: this.#generation, offset };
  }

  frame(row: Omit<FrameRow, 'offset' | 'length'>, bytes: Uint8Array): void {
    this.#makeRoom(bytes.length, row.atMs);
    this.#builder.addFrame(row, bytes);
    this.#schedule();
  }

  /** Sets the frame of a packet, which may have been in an earlier batch. */
  link(packetId: number, frame: number): void {
    this.#builder.addLink(packetId, frame);
    this.#schedule();
  }

  /** Adds a message with its PUBLISH `bytes`, which are sent again if the batch with their row has left. */
  message(message: NewMessage, bytes: Uint8Array, place: Place | undefined): void {
    this.#makeRoom(bytes.length, message.atMs);
    const isHere = place?.generation === this.#generation;
    const offset = isHere ? place.offset : this.#builder.addBytes(bytes);
    this.#builder.addMessage(message, offset, bytes.length);
    this.#keeper?.message(message, bytes);
    this.#schedule();
  }

  /** Messages are missing between the earlier and the next ones. */
  mark(mark: LogMark): void {
    this.#builder.addMark(mark);
    // The keeper drops no messages for a busy page.
    if (mark.kind !== 'skipped') this.#keeper?.mark(mark);
    this.#schedule();
  }

  /** The server has answered an earlier publish. */
  outcome(outcome: PublishOutcome): void {
    this.#keeper?.outcome(outcome);
    // If the page takes no batch for this long, these messages are dropped.
    if (this.#builder.outcomeCount >= BATCH_MESSAGES_MAX) return;
    this.#builder.addOutcome(outcome);
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

  #makeRoom(bytes: number, atMs: number): void {
    const { messageCount, byteLength } = this.#builder;
    if (messageCount < BATCH_MESSAGES_MAX && byteLength + bytes <= BATCH_BYTES_MAX) return;
    this.#skipped += messageCount;
    this.#restart();
    if (messageCount > 0) this.mark({ kind: 'skipped', atMs, count: messageCount });
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
