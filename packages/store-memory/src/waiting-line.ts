import { type Message, messageBytes, type QueueLimits } from '@apus/broker';
import { Fifo } from './fifo.ts';

const NOTHING: readonly never[] = [];

/** The messages of one session that have not been sent, within the limits of a queue. */
export class WaitingLine<Waiting extends { readonly message: Message }> {
  readonly #waiting = new Fifo<Waiting>();
  #bytes = 0;

  get length(): number {
    return this.#waiting.length;
  }

  /** As `messageBytes` counts them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The messages that are dropped for a new one, oldest first. Undefined: the new one itself is dropped. */
  makeRoom(
    message: Message,
    { queueLengthMax, queueBytesMax, whenFull }: QueueLimits,
  ): readonly Waiting[] | undefined {
    const bytes = messageBytes(message);
    const isFull = () => this.length >= queueLengthMax || this.#bytes + bytes > queueBytesMax;
    if (!isFull()) return NOTHING;
    // Emptying the queue for a message that fits into no queue would lose everything for nothing.
    const fitsEmptyQueue = queueLengthMax > 0 && bytes <= queueBytesMax;
    if (whenFull === 'drop-newest' || !fitsEmptyQueue) return undefined;
    const dropped: Waiting[] = [];
    while (isFull()) {
      const oldest = this.take();
      if (oldest === undefined) break;
      dropped.push(oldest);
    }
    return dropped;
  }

  push(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#bytes += messageBytes(waiting.message);
  }

  peek(): Waiting | undefined {
    return this.#waiting.peek();
  }

  take(): Waiting | undefined {
    const oldest = this.#waiting.shift();
    if (oldest !== undefined) this.#bytes -= messageBytes(oldest.message);
    return oldest;
  }

  toArray(): readonly Waiting[] {
    return this.#waiting.toArray();
  }
}
