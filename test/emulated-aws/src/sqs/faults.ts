import type { Chance, Delay } from '@apus/emulator/service';

/** A call on the API of SQS. */
export interface SqsCall {
  /** `SendMessageBatch`, … */
  readonly action: string;
  readonly queueName: string;
  /** Absent for a caller outside Lambda. */
  readonly environmentId?: string;
}

/** One entry of a SendMessageBatch. */
export interface SqsEntry extends SqsCall {
  readonly body: string;
}

export interface SqsMessage {
  readonly queueName: string;
  readonly messageId: string;
  readonly messageGroupId?: string;
  readonly body: string;
  /** How often it was received so far. */
  readonly receiveCount: number;
}

/** A receive, by a caller or by an event source mapping. */
export interface SqsReceive {
  readonly queueName: string;
  /** The largest number of returned messages. */
  readonly messagesMax: number;
}

/** The faults of queues, and how often each strikes. By default none does. */
export interface SqsFaults {
  /** A send is answered 500, and nothing was sent. */
  readonly sendFails?: Chance<SqsCall>;
  /** A send took effect, and is answered 500: a caller that tries again doubles it, unless the queue deduplicates. */
  readonly sendFailsAfterwards?: Chance<SqsCall>;
  /** An entry of a batch is among `Failed`, and was not sent. */
  readonly sendEntryFails?: Chance<SqsEntry>;
  /** The time from call to answer; the effect is somewhere in between. The wait of a long poll is not counted. */
  readonly sqsLatencyMs?: Delay<SqsCall>;
  /** Any call is answered RequestThrottled. */
  readonly sqsThrottled?: Chance<SqsCall>;
  /**
   * A deleted message comes again. On a standard queue the delete is answered 200, and the copy comes within
   * `redeliverDelayMs`; on a FIFO queue the delete fails, and the message comes when its visibility lapses.
   */
  readonly redeliver?: Chance<SqsMessage>;
  /** @default a minute at most */
  readonly redeliverDelayMs?: Delay<SqsMessage>;
  /** A received message is visible again before its timeout, half of the time at once: two consumers have it. */
  readonly earlyRedelivery?: Chance<SqsReceive>;
  /** A receive returns fewer messages than there are, but at least one. */
  readonly receiveFewer?: Chance<SqsReceive>;
  /** A short poll finds nothing although there are messages. Long polls and event sources see all of them. */
  readonly receiveNothing?: Chance<SqsReceive>;
  /** Between a receive of an event source mapping and the invocation of its function; the visibility timeout runs. */
  readonly eventSourceDelayMs?: Delay<SqsReceive>;
}
