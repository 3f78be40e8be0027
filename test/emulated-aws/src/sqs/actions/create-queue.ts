import { isObject } from '@apus/emulator/service';
import { invalidAttributeName, invalidAttributeValue, invalidParameter } from '../errors.ts';
import { type Input, requiredText } from '../input.ts';
import type { QueueOptions, RedriveOptions } from '../queue-options.ts';

type Options = { -readonly [Name in keyof QueueOptions]: QueueOptions[Name] };
type Reader = (value: string, options: Options) => void;

const READERS: Readonly<Record<string, Reader>> = {
  FifoQueue: (value, options) => {
    options.fifo = flag('FifoQueue', value);
  },
  ContentBasedDeduplication: (value, options) => {
    options.contentBasedDeduplication = flag('ContentBasedDeduplication', value);
  },
  DeduplicationScope: (value, options) => {
    if (value !== 'queue' && value !== 'messageGroup') throw invalidAttributeValue('DeduplicationScope');
    options.deduplicationScope = value;
  },
  FifoThroughputLimit: (value, options) => {
    if (value !== 'perQueue' && value !== 'perMessageGroupId')
      throw invalidAttributeValue('FifoThroughputLimit');
    options.fifoThroughputLimit = value;
  },
  VisibilityTimeout: (value, options) => {
    options.visibilityTimeoutSeconds = number('VisibilityTimeout', value);
  },
  DelaySeconds: (value, options) => {
    options.delaySeconds = number('DelaySeconds', value);
  },
  MessageRetentionPeriod: (value, options) => {
    options.messageRetentionSeconds = number('MessageRetentionPeriod', value);
  },
  ReceiveMessageWaitTimeSeconds: (value, options) => {
    options.receiveWaitSeconds = number('ReceiveMessageWaitTimeSeconds', value);
  },
  MaximumMessageSize: (value, options) => {
    options.messageBytesMax = number('MaximumMessageSize', value);
  },
  RedrivePolicy: (value, options) => {
    options.redrive = redrive(value);
  },
};

/** A queue as CreateQueue describes it. */
export function readQueueOptions(input: Input): QueueOptions {
  const options: Options = { name: requiredText(input, 'QueueName') };
  const attributes = input.Attributes ?? {};
  if (!isObject(attributes)) throw invalidParameter('Attributes should be a map of texts.');
  for (const [name, value] of Object.entries(attributes)) {
    const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
    if (read === undefined) throw invalidAttributeName(name);
    if (typeof value !== 'string') throw invalidAttributeValue(name);
    read(value, options);
  }
  return options;
}

function flag(name: string, value: string): boolean {
  if (value !== 'true' && value !== 'false') throw invalidAttributeValue(name);
  return value === 'true';
}

function number(name: string, value: string): number {
  if (!/^\d+$/.test(value)) throw invalidAttributeValue(name);
  return Number(value);
}

function redrive(value: string): RedriveOptions {
  const policy: unknown = parse(value);
  if (!isObject(policy) || typeof policy.deadLetterTargetArn !== 'string') {
    throw invalidAttributeValue('RedrivePolicy');
  }
  const deadLetterQueue = policy.deadLetterTargetArn.split(':').at(-1) ?? '';
  return { deadLetterQueue, maxReceiveCount: Number(policy.maxReceiveCount) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
