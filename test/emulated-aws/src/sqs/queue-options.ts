import type { SqsLimits } from './limits.ts';

export interface RedriveOptions {
  /** Name of a queue of the same kind that exists. */
  readonly deadLetterQueue: string;
  /** A message that was received this often and not deleted is moved instead of being received again. 1 to 1,000. */
  readonly maxReceiveCount: number;
}

export interface QueueOptions {
  /** A FIFO queue's ends in `.fifo`. */
  readonly name: string;
  /** @default false */
  readonly fifo?: boolean;
  /** FIFO only: without an id of its own, a message's id is the SHA-256 of its body. @default false */
  readonly contentBasedDeduplication?: boolean;
  /** FIFO only: whether equal ids in two groups are duplicates. @default 'queue' */
  readonly deduplicationScope?: 'queue' | 'messageGroup';
  /** FIFO only: `perMessageGroupId` is high throughput, and needs the scope `messageGroup`. @default 'perQueue' */
  readonly fifoThroughputLimit?: 'perQueue' | 'perMessageGroupId';
  /** @default 30 */
  readonly visibilityTimeoutSeconds?: number;
  /** @default 0 */
  readonly delaySeconds?: number;
  /** One minute to fourteen days. @default four days */
  readonly messageRetentionSeconds?: number;
  /** How long a receive waits that does not say so itself. @default 0 */
  readonly receiveWaitSeconds?: number;
  /** @default 1 MiB, the most */
  readonly messageBytesMax?: number;
  readonly redrive?: RedriveOptions;
  /** Whether FIFO quotas on calls a second are kept (RequestThrottled). @default false */
  readonly throttled?: boolean;
}

export interface QueueSettings extends Required<Omit<QueueOptions, 'redrive'>> {
  readonly redrive: RedriveOptions | undefined;
}

const DEFAULTS = {
  fifo: false,
  contentBasedDeduplication: false,
  deduplicationScope: 'queue',
  fifoThroughputLimit: 'perQueue',
  visibilityTimeoutSeconds: 30,
  delaySeconds: 0,
  messageRetentionSeconds: 4 * 24 * 60 * 60,
  receiveWaitSeconds: 0,
  throttled: false,
} as const;

const RETENTION_SECONDS = { min: 60, max: 14 * 24 * 60 * 60 };
const MESSAGE_BYTES_MIN = 1_024;
const RECEIVE_COUNT_MAX = 1_000;
const NAME = /^[A-Za-z0-9_-]{1,80}$/;
const FIFO_NAME = /^[A-Za-z0-9_-]{1,75}\.fifo$/;

/** Fills in the defaults. Throws where a queue like this cannot be created at AWS. */
export function queueSettings(options: QueueOptions, limits: SqsLimits): QueueSettings {
  const settings = {
    ...DEFAULTS,
    messageBytesMax: limits.messageBytesMax,
    ...options,
    redrive: options.redrive,
  };
  checkName(settings);
  checkFifoOptions(settings);
  within('visibilityTimeoutSeconds', settings, 0, limits.visibilityTimeoutSecondsMax);
  within('delaySeconds', settings, 0, limits.delaySecondsMax);
  within('receiveWaitSeconds', settings, 0, limits.receiveWaitSecondsMax);
  within('messageRetentionSeconds', settings, RETENTION_SECONDS.min, RETENTION_SECONDS.max);
  within('messageBytesMax', settings, MESSAGE_BYTES_MIN, limits.messageBytesMax);
  if (settings.redrive) within('maxReceiveCount', settings.redrive, 1, RECEIVE_COUNT_MAX);
  return settings;
}

function checkName({ fifo, name }: QueueSettings): void {
  if ((fifo ? FIFO_NAME : NAME).test(name)) return;
  const expected = 'letters, digits, - and _, at most 80 in all';
  throw new Error(`The queue name "${name}" should have ${expected}${fifo ? ', and end in .fifo' : ''}`);
}

function checkFifoOptions(settings: QueueSettings): void {
  const { contentBasedDeduplication, deduplicationScope, fifo, fifoThroughputLimit, name } = settings;
  const perGroup = deduplicationScope === 'messageGroup' || fifoThroughputLimit === 'perMessageGroupId';
  if (!fifo && (contentBasedDeduplication || perGroup)) {
    throw new Error(`${name}: deduplication and throughput limits are for FIFO queues`);
  }
  if (fifoThroughputLimit === 'perMessageGroupId' && deduplicationScope !== 'messageGroup') {
    throw new Error(`${name}: fifoThroughputLimit perMessageGroupId needs deduplicationScope messageGroup`);
  }
}

function within<Name extends string>(name: Name, values: Record<Name, number>, min: number, max: number) {
  const value = values[name];
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new Error(`${name} should be a whole number from ${min} to ${max}, not ${value}`);
}
