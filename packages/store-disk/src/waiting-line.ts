import type { QueuedPublish, QueueLimits } from '@apus/broker';
import { Fifo } from './fifo.ts';
import { bytesOf } from './page.ts';
import type { Place, QueueJournal } from './queue-journal.ts';

export interface Waiting {
  readonly entry: QueuedPublish;
  readonly place: Place;
}

/** The messages of one session that have not been sent, within the limits of a queue. */
export class WaitingLine {
  readonly #journal: QueueJournal;
  readonly #waiting = new Fifo<Waiting>();
  #bytes = 0;

  constructor(journal: QueueJournal) {
    this.#journal = journal;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Lets a message wait, and something give way where the line is full. Returns how many messages did. */
  offer(entry: QueuedPublish, isShared: boolean, limits: QueueLimits): number {
    const { queueLengthMax, queueBytesMax, whenFull } = limits;
    const bytes = bytesOf(entry.message);
    const isFull = () => this.length >= queueLengthMax || this.#bytes + bytes > queueBytesMax;
    // Emptying the queue for a message that fits no queue would lose all for nothing.
    const fitsEmptyQueue = queueLengthMax > 0 && bytes <= queueBytesMax;
    if (isFull() && (whenFull === 'drop-newest' || !fitsEmptyQueue)) return 1;
    let dropped = 0;
    while (isFull() && this.drop()) dropped += 1;
    this.push({ entry, place: this.#journal.added(entry, isShared) });
    return dropped;
  }

  push(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#bytes += bytesOf(waiting.entry.message);
  }

  peek(): Waiting | undefined {
    return this.#waiting.peek();
  }

  /** Takes the oldest out, to be sent. */
  take(): Waiting | undefined {
    const oldest = this.#waiting.shift();
    if (oldest !== undefined) this.#bytes -= bytesOf(oldest.entry.message);
    return oldest;
  }

  /** Forgets the oldest. False when there is none. */
  drop(): boolean {
    const oldest = this.take();
    if (oldest !== undefined) this.#journal.removed(oldest.place, oldest.entry);
    return oldest !== undefined;
  }

  toArray(): readonly Waiting[] {
    return this.#waiting.toArray();
  }
}
