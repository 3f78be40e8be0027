import { BATCH_BYTES_MAX, BATCH_INTERVAL_MS, BATCH_MESSAGES_MAX } from '../limits.ts';
import type { Batch, FrameRow, PublishOutcome } from '../protocol.ts';
import type { LogMark } from '../types.ts';
import { BatchBuilder, type NewMessage } from './batch-builder.ts';
import type { MessageKeeper } from './message-keeper.ts';

/** Calls back later; a test's calls when it says so. Returns how to cancel. */
export type Later = (callback: () => void, delayMs: number) => () => void;

/** Where a packet's bytes are: an offset, and the batch that it counts in. */
export interface Place {
  /** The packet's own, ascending. */
  readonly id: number;
  readonly generation: number;
  readonly offset: number;
}

/**
 * Sends what gathers as batches, one at a time: the next leaves when the page has taken the last one. A page that takes
 * none for long cannot make the worker grow: the worker drops and counts the messages.
 */
export class Batcher {
  readonly #send: (batch: Batch) => void;
  readonly #later: Later;
  readonly #keeper: MessageKeeper | undefined;
  readonly #builder = new BatchBuilder();
  #cancelTimer: (() => void) | undefined;
  #isOutstanding = false;
  #skipped = 0;
  /** Which batch is being gathered. */
  #generation = 0;
  #lastPacketId = 0;

  /** @param keeper hears of every message, also of those that a busy page never sees */
  constructor(send: (batch: Batch) => void, later: Later, keeper?: MessageKeeper) {
    this.#send = send;
    this.#later = later;
    this.#keeper = keeper;
  }

  /** Messages that the page never saw. */
  get skipped(): number {
    return this.#skipped;
  }

  /** @returns where its bytes are, for the message that it carries */
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

  /** Says in which frame a packet was; it may have been told of in an earlier batch. */
  link(packetId: number, frame: number): void {
    this.#builder.addLink(packetId, frame);
    this.#schedule();
  }

  /** A message whose PUBLISH is `bytes`, which travel again if the batch with their row has left. */
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
    // The keeper lets nothing go for a busy page.
    if (mark.kind !== 'skipped') this.#keeper?.mark(mark);
    this.#schedule();
  }

  /** The server has answered an earlier publish. */
  outcome(outcome: PublishOutcome): void {
    this.#keeper?.outcome(outcome);
    // A page that takes nothing for this long has let those messages go.
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
