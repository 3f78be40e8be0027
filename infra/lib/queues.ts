import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  DeduplicationScope,
  FifoThroughputLimit,
  Queue,
  QueueEncryption,
  type QueueProps,
} from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import {
  DEAD_LETTER_RETENTION,
  RECEIVES_MAX,
  RULES_VISIBILITY_TIMEOUT,
  VISIBILITY_TIMEOUT,
} from './defaults.ts';

/**
 * A FIFO queue whose message groups do not wait for each other and share no quota. Jobs carry their own deduplication
 * ids.
 */
const HIGH_THROUGHPUT: QueueProps = {
  fifo: true,
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
};

/** A queue, and its dead-letter queue. */
export interface QueuePair {
  readonly queue: Queue;
  readonly deadLetters: Queue;
}

/** Jobs for the workers of wide filters: in order for each shard of a filter. */
export function createFanOutQueue(scope: Construct, encryptionKey: IKey | undefined): QueuePair {
  return createPair(scope, 'FanOut', { ...HIGH_THROUGHPUT, ...encryptionOf(encryptionKey) });
}

/** Timers that fire within fifteen minutes: wills, session expiry. In no order. */
export function createTimerQueue(scope: Construct, encryptionKey: IKey | undefined): QueuePair {
  return createPair(scope, 'Timers', encryptionOf(encryptionKey));
}

/** Messages from AWS IoT Core: in no order, as IoT rules cannot send to FIFO queues. */
export function createIotCoreQueue(scope: Construct, encryptionKey: IKey | undefined): QueuePair {
  return createPair(scope, 'IotCore', encryptionOf(encryptionKey));
}

/**
 * Messages for the targets of rules, in order for each rule and topic; and the messages that the function of rules has
 * given up, in a standard queue, where each can be read.
 */
export function createRuleQueues(scope: Construct, encryptionKey: IKey | undefined): QueuePair {
  const common = { ...encryptionOf(encryptionKey), enforceSSL: true, retentionPeriod: DEAD_LETTER_RETENTION };
  const queue = new Queue(scope, 'RulesQueue', {
    ...HIGH_THROUGHPUT,
    ...common,
    visibilityTimeout: RULES_VISIBILITY_TIMEOUT,
  });
  const deadLetters = new Queue(scope, 'RulesDeadLetters', common);
  const reasons = [
    [
      queue,
      'The function puts messages into the queue of dead letters itself, with the error. Those of a function that cannot run wait for one that can.',
    ],
    [deadLetters, 'It is the dead-letter queue of another one.'],
  ] as const;
  for (const [each, reason] of reasons) {
    acknowledge(each, 'AwsSolutions-SQS3', reason);
    acknowledge(each, 'Serverless-SQSRedrivePolicy', reason);
  }
  return { queue, deadLetters };
}

function createPair(scope: Construct, id: string, props: QueueProps): QueuePair {
  const deadLetters = new Queue(scope, `${id}DeadLetters`, {
    ...props,
    enforceSSL: true,
    retentionPeriod: DEAD_LETTER_RETENTION,
  });
  acknowledge(deadLetters, 'AwsSolutions-SQS3', 'It is the dead-letter queue of another one.');
  acknowledge(deadLetters, 'Serverless-SQSRedrivePolicy', 'It is the dead-letter queue of another one.');
  const queue = new Queue(scope, `${id}Queue`, {
    ...props,
    enforceSSL: true,
    visibilityTimeout: VISIBILITY_TIMEOUT,
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: RECEIVES_MAX },
  });
  return { queue, deadLetters };
}

function encryptionOf(key: IKey | undefined): QueueProps {
  if (key === undefined) return { encryption: QueueEncryption.SQS_MANAGED };
  return { encryption: QueueEncryption.KMS, encryptionMasterKey: key };
}
