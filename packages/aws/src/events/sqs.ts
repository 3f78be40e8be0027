/** The event of an SQS event source. */
export interface SqsEvent {
  readonly Records: readonly SqsRecord[];
}

export interface SqsRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: SqsAttributes;
}

/** All are strings; times are milliseconds since the epoch by the clock of SQS. */
export interface SqsAttributes {
  readonly ApproximateReceiveCount?: string;
  readonly SentTimestamp?: string;
  readonly ApproximateFirstReceiveTimestamp?: string;
  /** FIFO only; rises within a group. */
  readonly SequenceNumber?: string;
  /** FIFO only. */
  readonly MessageGroupId?: string;
}

/** An empty list says that all records are done with; the others come again. */
export interface SqsBatchResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** How often SQS has handed out the message, this time included. */
export function receivesOf({ attributes }: SqsRecord): number {
  return Number(attributes.ApproximateReceiveCount ?? 1);
}
