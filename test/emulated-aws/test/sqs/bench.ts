import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SendMessageCommandInput,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { skipFor } from '../../../support/skips.ts';

/** An SQS to be judged by the same text: ours, or one that is not ours. */
export interface Backend {
  readonly client: SQSClient;
  /** Lets time pass: a clock's, or real time. */
  passSeconds(seconds: number): Promise<void>;
  /** Then tests wait side by side. */
  readonly inRealTime?: boolean;
  /** Known deviations: by the title of the test, the reason why its failure is accepted. */
  readonly known?: Readonly<Record<string, string>>;
}

export const MIB = 1_048_576;

let names = 0;

/** Short words for what the tests do with queues. */
export class Bench implements Backend {
  readonly client: SQSClient;
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
    this.client = backend.client;
  }

  readonly it = (title: string, run: () => Promise<void>): void => {
    const reason = this.#backend.known?.[title];
    if (reason === undefined) test(title, { concurrent: this.#backend.inRealTime === true }, run);
    // The backend is known to differ from SQS.
    else test(title, skipFor(reason), run);
  };

  readonly passSeconds = (seconds: number): Promise<void> => this.#backend.passSeconds(seconds);

  readonly createQueue = async (attributes: Record<string, string> = {}): Promise<string> => {
    names += 1;
    const suffix = attributes.FifoQueue === 'true' ? '.fifo' : '';
    const QueueName = `contract-${process.pid}-${names}${suffix}`;
    const created = await this.client.send(new CreateQueueCommand({ QueueName, Attributes: attributes }));
    return created.QueueUrl ?? '';
  };

  readonly createFifo = (attributes: Record<string, string> = {}): Promise<string> =>
    this.createQueue({ FifoQueue: 'true', ...attributes });

  readonly attributesOf = async (QueueUrl: string): Promise<Record<string, string>> => {
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
    return (await this.client.send(command)).Attributes ?? {};
  };

  readonly send = (QueueUrl: string, MessageBody: string, fields: Partial<SendMessageCommandInput> = {}) =>
    this.client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...fields }));

  readonly sendTo = (QueueUrl: string, group: string, body: string, id = body) =>
    this.send(QueueUrl, body, { MessageGroupId: group, MessageDeduplicationId: id });

  readonly sendBatch = (QueueUrl: string, Entries: SendMessageBatchRequestEntry[]) =>
    this.client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));

  readonly receive = async (
    QueueUrl: string,
    fields: Partial<ReceiveMessageCommandInput> = {},
  ): Promise<Message[]> => {
    const command = new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames: ['All'], ...fields });
    return (await this.client.send(command)).Messages ?? [];
  };

  readonly receiveTen = (QueueUrl: string) => this.receive(QueueUrl, { MaxNumberOfMessages: 10 });

  /** The only message that there is. */
  readonly receiveOne = async (QueueUrl: string): Promise<Message> => {
    const messages = await this.receiveTen(QueueUrl);
    expect(messages).toHaveLength(1);
    return messages[0] ?? {};
  };

  readonly remove = (QueueUrl: string, { ReceiptHandle }: Message) =>
    this.client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
}

export const bodies = (messages: readonly Message[]) => messages.map(({ Body }) => Body);

/** The name of the error that a call ends with. */
export const nameOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: Error) => error.name,
  );
