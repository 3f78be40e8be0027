/** A message attribute as it travels. */
export interface MessageAttribute {
  readonly DataType: string;
  readonly StringValue?: string;
  /** In base64. */
  readonly BinaryValue?: string;
}

export type MessageAttributes = Readonly<Record<string, MessageAttribute>>;

/** A message to send, checked. */
export interface MessageDraft {
  readonly body: string;
  readonly attributes: MessageAttributes;
  /** AWSTraceHeader is the only system attribute that a caller may give. */
  readonly systemAttributes: MessageAttributes;
  /** Body and attributes. */
  readonly bytes: number;
  readonly groupId: string | undefined;
  readonly deduplicationId: string | undefined;
  /** The message's own; else the queue's counts. */
  readonly delaySeconds: number | undefined;
  readonly senderId: string;
}

/**
 * `delayed` is not there yet, `available` may be received, `inFlight` was received and its visibility timeout runs,
 * `gone` was deleted, moved or has expired.
 */
export type MessageState = 'delayed' | 'available' | 'inFlight' | 'gone';

export interface QueuedMessage {
  readonly id: string;
  readonly draft: MessageDraft;
  readonly sentAtMs: number;
  /** Retention counts from here: where a FIFO queue takes a dead letter, it begins anew. */
  readonly enqueuedAtMs: number;
  /** FIFO only: rises along the queue. */
  readonly sequenceNumber: string | undefined;
  /** Where a dead letter comes from. */
  deadLetterSourceArn: string | undefined;
  state: MessageState;
  /** FIFO only: among the first messages, at which the queue looks. */
  withinLookahead: boolean;
  receiveCount: number;
  firstReceivedAtMs: number | undefined;
  receivedAtMs: number;
  /** The receive whose handle counts. */
  receipt: string;
  /** Ends the timer of a delay, or of a visibility timeout. */
  cancelTimer: () => void;
}

type NewMessage = Pick<
  QueuedMessage,
  'id' | 'draft' | 'sentAtMs' | 'enqueuedAtMs' | 'sequenceNumber' | 'state'
>;

/** A message that has not been received yet. */
export function newMessage(fields: NewMessage): QueuedMessage {
  return {
    ...fields,
    deadLetterSourceArn: undefined,
    withinLookahead: false,
    receiveCount: 0,
    firstReceivedAtMs: undefined,
    receivedAtMs: 0,
    receipt: '',
    cancelTimer: () => {},
  };
}

/** SQS's own attributes of a message, all of them text. Times are milliseconds since the Unix epoch. */
export interface SystemAttributes {
  readonly ApproximateReceiveCount: string;
  readonly SentTimestamp: string;
  readonly SenderId: string;
  readonly ApproximateFirstReceiveTimestamp: string;
  /** The group of a message of a FIFO queue, and of a standard queue where the sender gave one. */
  readonly MessageGroupId?: string;
  /** FIFO only. */
  readonly MessageDeduplicationId?: string;
  /** FIFO only. */
  readonly SequenceNumber?: string;
  readonly AWSTraceHeader?: string;
  readonly DeadLetterQueueSourceArn?: string;
}

export function systemAttributesOf(message: QueuedMessage): SystemAttributes {
  const { draft } = message;
  const traceHeader = draft.systemAttributes.AWSTraceHeader?.StringValue;
  return {
    ApproximateReceiveCount: String(message.receiveCount),
    SentTimestamp: String(Math.floor(message.sentAtMs)),
    SenderId: draft.senderId,
    ApproximateFirstReceiveTimestamp: String(Math.floor(message.firstReceivedAtMs ?? message.sentAtMs)),
    ...(message.sequenceNumber !== undefined && { SequenceNumber: message.sequenceNumber }),
    ...(draft.groupId !== undefined && { MessageGroupId: draft.groupId }),
    ...(draft.deduplicationId !== undefined && { MessageDeduplicationId: draft.deduplicationId }),
    ...(message.deadLetterSourceArn !== undefined && {
      DeadLetterQueueSourceArn: message.deadLetterSourceArn,
    }),
    ...(traceHeader !== undefined && { AWSTraceHeader: traceHeader }),
  };
}
