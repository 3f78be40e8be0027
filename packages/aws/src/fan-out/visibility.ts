import { type Log, reasonOf } from '@apus/broker';
import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SqsRecord } from '../events/sqs.ts';

/** SQS: entries of one batch. */
const BATCH_ENTRIES_MAX = 10;

/** Attempts without a pause: the worker that gives jobs back is about to end. */
const TRIES_MAX = 3;

/** Makes received messages visible before their visibility timeout ends. */
export interface Visibility {
  /** Best effort: a record that it misses becomes visible when its timeout ends. Never rejects. */
  giveBack(records: readonly SqsRecord[], afterSeconds: number): Promise<void>;
}

export interface SqsVisibilityOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly log: Log;
}

export class SqsVisibility implements Visibility {
  readonly #options: SqsVisibilityOptions;

  constructor(options: SqsVisibilityOptions) {
    this.#options = options;
  }

  async giveBack(records: readonly SqsRecord[], afterSeconds: number): Promise<void> {
    for (let start = 0; start < records.length; start += BATCH_ENTRIES_MAX) {
      await this.#change(records.slice(start, start + BATCH_ENTRIES_MAX), afterSeconds);
    }
  }

  async #change(records: readonly SqsRecord[], afterSeconds: number): Promise<void> {
    let left = records;
    let reason = '';
    for (let tries = 0; left.length > 0 && tries < TRIES_MAX; tries += 1) {
      ({ left, reason } = await this.#try(left, afterSeconds));
    }
    if (left.length > 0) this.#options.log.warn('not-given-back', { records: left.length, reason });
  }

  /** Returns the records that SQS has not changed, and may change at another try. */
  async #try(
    records: readonly SqsRecord[],
    afterSeconds: number,
  ): Promise<{ readonly left: readonly SqsRecord[]; readonly reason: string }> {
    const { client, queueUrl } = this.#options;
    try {
      const { Failed = [] } = await client.send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: queueUrl,
          Entries: records.map(({ receiptHandle }, index) => ({
            Id: String(index),
            ReceiptHandle: receiptHandle,
            VisibilityTimeout: afterSeconds,
          })),
        }),
      );
      // A fault of the sender means that the message is visible already, or gone.
      const failed = Failed.filter(({ SenderFault }) => SenderFault !== true);
      const left = records.filter((_, index) => failed.some(({ Id }) => Id === String(index)));
      return { left, reason: failed[0]?.Code ?? '' };
    } catch (error) {
      return { left: records, reason: reasonOf(error) };
    }
  }
}
