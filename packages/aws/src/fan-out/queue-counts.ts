import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';

/** Messages of a queue, as SQS estimates them. */
export interface QueueCounts {
  readonly waiting: number;
  /** Received, and neither deleted nor given back. */
  readonly inflight: number;
}

export async function queueCounts(client: Pick<SQSClient, 'send'>, queueUrl: string): Promise<QueueCounts> {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return {
    waiting: Number(Attributes?.ApproximateNumberOfMessages ?? 0),
    inflight: Number(Attributes?.ApproximateNumberOfMessagesNotVisible ?? 0),
  };
}
