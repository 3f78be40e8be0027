import { troubleOf } from '../keep-trouble.ts';
import {
  BATCH_INTERVAL_MS,
  KEEP_INTERVAL_MS,
  KEPT_BYTES_MAX,
  KEPT_MESSAGES_MAX,
  KEPT_RECORD_BYTES,
  KEPT_RECORD_MESSAGES,
} from '../limits.ts';
import { type Batch, MESSAGE_COLUMNS, MessageColumn, type PublishOutcome } from '../protocol.ts';
import type { KeepTrouble, LogMark } from '../types.ts';
import { BatchBuilder, type NewMessage } from './batch-builder.ts';
import type { Later } from './batcher.ts';
import type { KeptRecord, KeptStore } from './kept-store.ts';

interface MessageKeeperOptions {
  readonly id: string;
  readonly store: KeptStore;
  now(): number;
  readonly later: Later;
  /** Receives the stored messages, the oldest first. */
  show(batch: Batch): void;
  /** After an error it stores no more. */
  trouble(kind: KeepTrouble): void;
}

/** Bytes of a stored record. */
interface Stored {
  readonly number: number;
  readonly messages: number;
  readonly bytes: number;
}

/**
 * Stores the newest messages of a connection across a reload. Once a second at most it writes the new messages as one
 * record; a record that is not full is written again with more, so that slow messages do not make many records. The
 * oldest records are deleted.
 */
export class MessageKeeper {
  readonly #options: MessageKeeperOptions;
  readonly #builder = new BatchBuilder();
  #stored: readonly Stored[] = [];
  /** Stored records that the next write removes. */
  #removed: number[] = [];
  /** The number of the record that is being built. */
  #number = 0;
  #isWanted = false;
  #isKeeping = false;
  #isChanged = false;
  #isWaiting = false;
  #writtenAtMs = 0;
  #written: Promise<void> | undefined;

  constructor(options: MessageKeeperOptions) {
    this.#options = options;
  }

  /** Resolves when no write is under way. */
  get written(): Promise<void> {
    return this.#written ?? Promise.resolve();
  }

  /** Shows the stored messages, and stores new ones from now on. */
  async start(): Promise<void> {
    if (this.#isWanted) return;
    this.#isWanted = true;
    const { id, store } = this.#options;
    try {
      if (!(await store.claim(id))) return;
      const records = await store.read(id);
      if (!this.#isWanted) return;
      this.#isKeeping = true;
      this.#show(records);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Stores nothing from now on, and deletes the stored messages. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    this.#isKeeping = false;
    await this.forget();
  }

  /** Deletes the stored messages. Later ones are stored. */
  async forget(): Promise<void> {
    this.#builder.reset();
    this.#stored = [];
    this.#removed = [];
    this.#isChanged = false;
    try {
      await this.#options.store.forget(this.#options.id);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** @param bytes its PUBLISH */
  message(message: NewMessage, bytes: Uint8Array): void {
    if (!this.#isKeeping || bytes.length > KEPT_BYTES_MAX) return;
    const { messageCount, byteLength } = this.#builder;
    if (messageCount >= KEPT_MESSAGES_MAX || byteLength + bytes.length > KEPT_BYTES_MAX) this.#beginAnew();
    this.#builder.addMessage(message, this.#builder.addBytes(bytes), bytes.length);
    this.#changed();
  }

  /** It is stored with the next message. */
  mark(mark: LogMark): void {
    if (this.#isKeeping) this.#builder.addMark(mark);
  }

  outcome(outcome: PublishOutcome): void {
    if (!this.#isKeeping || this.#builder.outcomeCount >= KEPT_MESSAGES_MAX) return;
    this.#builder.addOutcome(outcome);
    this.#changed();
  }

  #show(records: readonly KeptRecord[]): void {
    const { show, now } = this.#options;
    let fromMs = 0;
    for (const { number, batch } of records) {
      const { messages, bytes } = batch;
      this.#stored = [
        ...this.#stored,
        { number, messages: messages.length / MESSAGE_COLUMNS, bytes: bytes.byteLength },
      ];
      this.#number = number + 1;
      fromMs = messages.at(MessageColumn.AtMs - MESSAGE_COLUMNS) ?? fromMs;
      show(batch);
    }
    if (records.length === 0) return;
    const mark: LogMark = { kind: 'reloaded', fromMs, atMs: now() };
    const end = new BatchBuilder();
    // The client that would have sent it again no longer exists.
    end.addOutcome({ packetId: undefined, state: 'lost', code: undefined, detail: '' });
    end.addMark(mark);
    show(end.build());
    this.mark(mark);
  }

  #changed(): void {
    this.#isChanged = true;
    if (this.#isWaiting || this.#written !== undefined) return;
    this.#isWaiting = true;
    const { later, now } = this.#options;
    const delayMs = Math.max(BATCH_INTERVAL_MS, this.#writtenAtMs + KEEP_INTERVAL_MS - now());
    later(() => {
      this.#isWaiting = false;
      if (!this.#isChanged) return;
      this.#written = this.#write().finally(() => {
        this.#written = undefined;
        if (this.#isChanged) this.#changed();
      });
    }, delayMs);
  }

  async #write(): Promise<void> {
    const { id, store, now } = this.#options;
    this.#writtenAtMs = now();
    const { messageCount: messages, byteLength: bytes } = this.#builder;
    const record = { id, number: this.#number, batch: this.#builder.build() };
    const others = this.#stored.filter(({ number }) => number !== record.number);
    this.#stored = [...others, { number: record.number, messages, bytes }];
    this.#letGo();
    const removed = this.#removed;
    this.#removed = [];
    this.#isChanged = false;
    if (messages >= KEPT_RECORD_MESSAGES || bytes >= KEPT_RECORD_BYTES) {
      this.#builder.reset();
      this.#number += 1;
    }
    try {
      await store.write(record, removed);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Deletes the oldest records until the rest is within the limits. */
  #letGo(): void {
    let messages = this.#stored.reduce((sum, record) => sum + record.messages, 0);
    let bytes = this.#stored.reduce((sum, record) => sum + record.bytes, 0);
    while (messages > KEPT_MESSAGES_MAX || bytes > KEPT_BYTES_MAX) {
      const [oldest, ...rest] = this.#stored;
      if (oldest === undefined) return;
      messages -= oldest.messages;
      bytes -= oldest.bytes;
      this.#removed.push(oldest.number);
      this.#stored = rest;
    }
  }

  /** More messages have come since the last write than are stored: all earlier ones are deleted. */
  #beginAnew(): void {
    this.#removed.push(...this.#stored.map(({ number }) => number));
    this.#removed = this.#removed.filter((number) => number !== this.#number);
    this.#stored = [];
    this.#builder.reset();
  }

  #fail(error: unknown): void {
    if (!this.#isWanted) return;
    this.#isWanted = false;
    this.#isKeeping = false;
    this.#options.trouble(troubleOf(error));
  }
}
