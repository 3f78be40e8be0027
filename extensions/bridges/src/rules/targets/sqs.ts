import { createHash } from 'node:crypto';
import type { Message } from '@apus/broker';
import { installed } from '@apus/door';
import type { SqsConfiguration } from '../configuration/aws.ts';
import type { Target } from '../target.ts';
import { CALL_BYTES_MAX, calling, clientOptions, ENTRIES_MAX, partialFailure } from './aws.ts';
import { messageJson } from './message-json.ts';

/** Sends to an SQS queue. In a FIFO queue a topic is a message group, and the id of a message deduplicates it. */
export async function openSqs(configuration: SqsConfiguration): Promise<Target> {
  const { SQSClient, SendMessageBatchCommand } = await installed(import('@aws-sdk/client-sqs'));
  const client = new SQSClient(clientOptions(configuration));
  const { queueUrl } = configuration;
  const isFifo = queueUrl.endsWith('.fifo');
  const entryOf = (message: Message, index: number) => ({
    Id: String(index),
    MessageBody: JSON.stringify(messageJson(message)),
    ...(isFifo && { MessageGroupId: groupOf(message.topic), MessageDeduplicationId: message.id }),
  });
  return {
    type: 'sqs',
    remote: queueUrl,
    // JSON may be twice as long as the message.
    batch: { messagesMax: ENTRIES_MAX, bytesMax: CALL_BYTES_MAX / 2, isPartial: true },
    send: (batch) =>
      calling(batch, async () => {
        const command = new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: batch.map(entryOf) });
        const { Failed = [] } = await client.send(command);
        return partialFailure(
          batch,
          Failed.map(({ Id, Code, Message: text, SenderFault = false }) => ({
            index: Number(Id),
            error: `${Code}: ${text ?? ''}`,
            isPermanent: SenderFault,
          })),
        );
      }),
    stop: async () => client.destroy(),
  };
}

/** The group id may have up to 128 characters of a limited set, and a topic may have any. */
function groupOf(topic: string): string {
  return createHash('sha256').update(topic).digest('hex');
}
