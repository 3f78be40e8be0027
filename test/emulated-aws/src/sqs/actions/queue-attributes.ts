import { invalidAttributeName } from '../errors.ts';
import { texts } from '../input.ts';
import type { Queue } from '../queue.ts';
import type { QueueAction } from './action.ts';

export const getQueueAttributes: QueueAction = ({ input, queue }) => {
  const attributes = attributesOf(queue);
  const names = texts(input, 'AttributeNames');
  const unknown = names.find((name) => name !== 'All' && !KNOWN.has(name));
  if (unknown !== undefined) throw invalidAttributeName(unknown);
  const asked = Object.entries(attributes).filter(([name]) => names.includes('All') || names.includes(name));
  return asked.length === 0 ? {} : { Attributes: Object.fromEntries(asked) };
};

/** Every attribute that a request may ask for, even if this queue has no value for it. */
const KNOWN = new Set([
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesDelayed',
  'ApproximateNumberOfMessagesNotVisible',
  'ContentBasedDeduplication',
  'CreatedTimestamp',
  'DeduplicationScope',
  'DelaySeconds',
  'FifoQueue',
  'FifoThroughputLimit',
  'KmsDataKeyReusePeriodSeconds',
  'KmsMasterKeyId',
  'LastModifiedTimestamp',
  'MaximumMessageSize',
  'MessageRetentionPeriod',
  'Policy',
  'QueueArn',
  'ReceiveMessageWaitTimeSeconds',
  'RedriveAllowPolicy',
  'RedrivePolicy',
  'SqsManagedSseEnabled',
  'VisibilityTimeout',
]);

function attributesOf(queue: Queue): Record<string, string> {
  const { arn, createdAtMs, deadLetterQueue, settings } = queue.parts;
  const { available, delayed, inFlight } = queue.depth;
  const createdSeconds = String(Math.floor(createdAtMs / 1000));
  return {
    QueueArn: arn,
    ApproximateNumberOfMessages: String(available),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    ApproximateNumberOfMessagesDelayed: String(delayed),
    CreatedTimestamp: createdSeconds,
    LastModifiedTimestamp: createdSeconds,
    VisibilityTimeout: String(settings.visibilityTimeoutSeconds),
    MaximumMessageSize: String(settings.messageBytesMax),
    MessageRetentionPeriod: String(settings.messageRetentionSeconds),
    DelaySeconds: String(settings.delaySeconds),
    ReceiveMessageWaitTimeSeconds: String(settings.receiveWaitSeconds),
    SqsManagedSseEnabled: 'true',
    ...(settings.redrive !== undefined && {
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: deadLetterQueue?.parts.arn,
        maxReceiveCount: settings.redrive.maxReceiveCount,
      }),
    }),
    ...(settings.fifo && {
      FifoQueue: 'true',
      ContentBasedDeduplication: String(settings.contentBasedDeduplication),
      DeduplicationScope: settings.deduplicationScope,
      FifoThroughputLimit: settings.fifoThroughputLimit,
    }),
  };
}
