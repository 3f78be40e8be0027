import type { SqsRecord } from '../../src/events/sqs.ts';
import type { JobQueue, QueueEntry } from '../../src/fan-out/job-queue.ts';
import type { FakeTime } from './fake-time.ts';

/** A queue whose entries a test reads as its consumers receive them. */
export class FakeQueue implements JobQueue {
  readonly entries: QueueEntry[] = [];
  readonly #time: FakeTime;
  #received = 0;
  #sentAtMs: number[] = [];

  constructor(time: FakeTime) {
    this.#time = time;
  }

  async send(entries: readonly QueueEntry[]): Promise<void> {
    for (const entry of entries) {
      this.entries.push(entry);
      this.#sentAtMs.push(this.#time.nowMs);
    }
  }

  /** All that came since the last call, received for the first time. */
  receive(): SqsRecord[] {
    const records = this.entries
      .slice(this.#received)
      .map((entry, index) => this.#record(entry, this.#received + index));
    this.#received = this.entries.length;
    return records;
  }

  #record({ body, fifo }: QueueEntry, index: number): SqsRecord {
    return {
      messageId: `message-${index}`,
      receiptHandle: `receipt-${index}`,
      body,
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: String(this.#sentAtMs[index]),
        ApproximateFirstReceiveTimestamp: String(this.#time.nowMs),
        SequenceNumber: String(index + 1),
        ...(fifo !== undefined && { MessageGroupId: fifo.groupId }),
      },
    };
  }
}
