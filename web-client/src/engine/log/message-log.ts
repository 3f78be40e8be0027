import { MESSAGES_BYTES_MAX, MESSAGES_MAX } from '../limits.ts';
import type { LoggedMessage, MessageLog } from '../types.ts';
import { FrameListeners, type Schedule } from './frames.ts';
import { Message, type MessageFields } from './message.ts';
import { Ring } from './ring.ts';

export interface MessageLogLimits {
  readonly messagesMax: number;
  readonly bytesMax: number;
}

/** What a message costs beside its bytes: its object, measured in Chromium, rounded up. */
const OVERHEAD_BYTES = 256;

/** The messages of a connection, bounded by count and by bytes; the oldest go first. */
export class BoundedMessageLog implements MessageLog {
  readonly limits: MessageLogLimits;
  readonly #ring: Ring<LoggedMessage>;
  readonly #appended = new Set<(messages: readonly LoggedMessage[]) => void>();
  readonly #cleared = new Set<() => void>();
  readonly #frames: FrameListeners;
  #bytes = 0;
  #evicted = 0;

  constructor(
    limits: MessageLogLimits = { messagesMax: MESSAGES_MAX, bytesMax: MESSAGES_BYTES_MAX },
    schedule?: Schedule,
  ) {
    this.limits = limits;
    this.#ring = new Ring(limits.messagesMax);
    this.#frames = new FrameListeners(schedule);
  }

  get size(): number {
    return this.#ring.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get firstSequence(): number {
    return this.#ring.first;
  }

  get endSequence(): number {
    return this.#ring.end;
  }

  get evicted(): number {
    return this.#evicted;
  }

  at(sequence: number): LoggedMessage | undefined {
    return this.#ring.at(sequence);
  }

  /** A batch larger than the log is told to listeners whole; the log keeps its end. */
  append(batch: readonly MessageFields[]): void {
    if (batch.length === 0) return;
    const messages: LoggedMessage[] = [];
    for (const fields of batch) {
      const message = new Message(this.#ring.end, fields);
      if (this.#ring.isFull) this.#evict();
      this.#ring.push(message);
      this.#bytes += costOf(message);
      messages.push(message);
    }
    while (this.#bytes > this.limits.bytesMax && this.#ring.size > 1) this.#evict();
    for (const listener of [...this.#appended]) listener(messages);
    this.#frames.changed();
  }

  clear(): void {
    this.#ring.clear();
    this.#bytes = 0;
    this.#evicted = 0;
    for (const listener of [...this.#cleared]) listener();
    this.#frames.changed();
  }

  onAppend(listener: (messages: readonly LoggedMessage[]) => void): () => void {
    this.#appended.add(listener);
    return () => void this.#appended.delete(listener);
  }

  onFrame(listener: () => void): () => void {
    return this.#frames.add(listener);
  }

  onClear(listener: () => void): () => void {
    this.#cleared.add(listener);
    return () => void this.#cleared.delete(listener);
  }

  #evict(): void {
    const oldest = this.#ring.shift();
    if (oldest === undefined) return;
    this.#bytes -= costOf(oldest);
    this.#evicted += 1;
  }
}

function costOf(message: LoggedMessage): number {
  return message.packetLength + OVERHEAD_BYTES;
}
