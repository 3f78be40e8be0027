/** The limits of SQS (developer guide, "Amazon SQS quotas"). Each is an option; the defaults are AWS's. */
export interface SqsLimits {
  /** Entries of one batch, and messages of one receive. */
  readonly batchEntriesMax: number;
  /** A message's body and attributes, and those of a whole batch. */
  readonly messageBytesMax: number;
  /** Message attributes of one message. */
  readonly attributesMax: number;
  /** MessageGroupId and MessageDeduplicationId. */
  readonly idCharactersMax: number;
  /** Id of an entry of a batch. */
  readonly entryIdCharactersMax: number;
  /** A message's own delay, and a queue's. */
  readonly delaySecondsMax: number;
  /** Twelve hours, counted from the receive. */
  readonly visibilityTimeoutSecondsMax: number;
  readonly receiveWaitSecondsMax: number;
  /** How long a deduplication id is remembered, also when its message has been deleted. */
  readonly deduplicationSeconds: number;
  /** Received and neither deleted nor visible again. Beyond it a standard queue answers OverLimit, a FIFO queue nothing. */
  readonly inFlightMessagesMax: number;
  /** A FIFO queue looks for free groups among this many messages from its front: a longer backlog hides others. */
  readonly fifoLookaheadMessagesMax: number;
  /** Calls of one kind on a FIFO queue whose throughput limit is per queue. A batch is one call. */
  readonly fifoCallsPerSecond: number;
  /** Calls of one kind that touch one message group, where the throughput limit is per group. */
  readonly fifoCallsPerGroupAndSecond: number;
  /** Messages of one kind of call on a FIFO queue in high-throughput mode (us-east-1; other Regions have less). */
  readonly fifoMessagesPerSecond: number;
  /** Between two purges. */
  readonly purgeSeconds: number;
  /** The bytes that an event source mapping passes to one invocation: Lambda's payload limit. */
  readonly eventSourceBatchBytesMax: number;
  /** Batches of a standard queue that run at the same time, to begin with. */
  readonly eventSourceConcurrencyAtFirst: number;
  /** How many more there may be after each minute of backlog. */
  readonly eventSourceConcurrencyPerMinute: number;
  /** Batches that one mapping runs at the same time, however long the backlog. */
  readonly eventSourceConcurrencyMax: number;
  /** Long polls that an idle mapping keeps open, each of `eventSourcePollSeconds`. */
  readonly eventSourcePollers: number;
  readonly eventSourcePollSeconds: number;
  /** Messages of one queue in this process. Ours, against a runaway test: AWS stores any number. */
  readonly storedMessagesMax: number;
}

export const DEFAULT_SQS_LIMITS: SqsLimits = {
  batchEntriesMax: 10,
  messageBytesMax: 1_048_576,
  attributesMax: 10,
  idCharactersMax: 128,
  entryIdCharactersMax: 80,
  delaySecondsMax: 900,
  visibilityTimeoutSecondsMax: 43_200,
  receiveWaitSecondsMax: 20,
  deduplicationSeconds: 300,
  inFlightMessagesMax: 120_000,
  fifoLookaheadMessagesMax: 120_000,
  fifoCallsPerSecond: 300,
  fifoCallsPerGroupAndSecond: 300,
  fifoMessagesPerSecond: 70_000,
  purgeSeconds: 60,
  eventSourceBatchBytesMax: 6 * 1024 * 1024,
  eventSourceConcurrencyAtFirst: 5,
  eventSourceConcurrencyPerMinute: 300,
  eventSourceConcurrencyMax: 1_250,
  eventSourcePollers: 5,
  eventSourcePollSeconds: 20,
  storedMessagesMax: 1_000_000,
};

/** A request is billed by 64 KB of payload begun. */
export const BILLED_REQUEST_BYTES = 64 * 1024;
