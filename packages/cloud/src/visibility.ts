import type { Log } from '@apus/broker';
import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { SqsRecord } from './sqs-events.ts';

/** SQS: entries of one batch. */
const BATCH_ENTRIES_MAX = 10;

/** Makes messages that were received visible before their time. */
export interface Visibility {
  /** Best effort: what it misses becomes visible when its timeout ends. Never rejects. */
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
    const { client, queueUrl, log } = this.#options;
    try {
      await client.send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: queueUrl,
          Entries: records.map(({ receiptHandle }, index) => ({
            Id: String(index),
            ReceiptHandle: receiptHandle,
            VisibilityTimeout: afterSeconds,
          })),
        }),
      );
    } catch (error) {
      log.warn('not-given-back', { records: records.length, reason: String(error) });
    }
  }
}
