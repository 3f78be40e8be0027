import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { functionsOf } from '../../cloud/functions.ts';

type Worker = ReturnType<ReturnType<typeof functionsOf>['fanOut']>;
export type SqsEvent = Parameters<Worker>[0];
export type SqsBatchResponse = Awaited<ReturnType<Worker>>;

const BATCH_MESSAGES = 10;
const POLL_SECONDS = 1;

export interface QueuePollerOptions {
  readonly client: SQSClient;
  readonly queueUrl: string;
  /** Batches that are handled at the same time. */
  readonly concurrency: number;
  /** Rejects if the function fails. */
  readonly invoke: (event: SqsEvent) => Promise<SqsBatchResponse>;
  /** Whether the success of a batch is ignored, so that it comes again. */
  readonly forgets: (event: SqsEvent) => boolean;
}

/** Stands in for Lambda's event source mapping, over a queue's HTTP endpoint. */
export class QueuePoller {
  readonly #options: QueuePollerOptions;
  readonly #ended = new AbortController();
  readonly #loops: readonly Promise<void>[];

  constructor(options: QueuePollerOptions) {
    this.#options = options;
    this.#loops = Array.from({ length: options.concurrency }, () => this.#poll());
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#loops);
  }

  async #poll(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      const messages = await this.#receive().catch((error: unknown) => {
        if (signal.aborted) return [];
        throw error;
      });
      if (messages.length > 0) await this.#handle(messages);
    }
  }

  async #receive(): Promise<readonly Message[]> {
    const { client, queueUrl } = this.#options;
    const receive = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: BATCH_MESSAGES,
      WaitTimeSeconds: POLL_SECONDS,
      MessageSystemAttributeNames: ['All'],
    });
    const { Messages = [] } = await client.send(receive, { abortSignal: this.#ended.signal });
    return Messages;
  }

  /** A message that is not deleted comes again when its visibility timeout is over. */
  async #handle(messages: readonly Message[]): Promise<void> {
    const { client, queueUrl, invoke, forgets } = this.#options;
    const event: SqsEvent = { Records: messages.map(recordOf) };
    const answer = await invoke(event).catch(() => undefined);
    if (answer === undefined || forgets(event)) return;
    const failed = new Set(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const done = event.Records.filter(({ messageId }) => !failed.has(messageId));
    await Promise.all(
      done.map(async ({ receiptHandle }) => {
        const deletion = new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: receiptHandle });
        // Its visibility timeout may be over, and the handle may belong to another receive.
        await client.send(deletion).catch(() => {});
      }),
    );
  }
}

function recordOf({ MessageId, ReceiptHandle, Body, Attributes }: Message): SqsEvent['Records'][number] {
  return {
    messageId: MessageId ?? '',
    receiptHandle: ReceiptHandle ?? '',
    body: Body ?? '',
    attributes: { ...Attributes },
  };
}
