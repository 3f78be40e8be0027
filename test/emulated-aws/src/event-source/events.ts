import type { SystemAttributes } from '../sqs/message.ts';

/** The event of a function for a batch of an SQS queue (developer guide, "Using Lambda with Amazon SQS"). */
export interface SqsEvent {
  readonly Records: readonly SqsRecord[];
}

export interface SqsRecord {
  readonly messageId: string;
  /** Valid for ChangeMessageVisibility and DeleteMessage while the visibility timeout runs. */
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: SystemAttributes;
  readonly messageAttributes: Readonly<Record<string, SqsRecordMessageAttribute>>;
  readonly md5OfBody: string;
  /** Only with message attributes. */
  readonly md5OfMessageAttributes?: string;
  readonly eventSource: 'aws:sqs';
  readonly eventSourceARN: string;
  readonly awsRegion: string;
}

export interface SqsRecordMessageAttribute {
  readonly dataType: string;
  readonly stringValue?: string;
  /** In base64. */
  readonly binaryValue?: string;
  /** Reserved; always empty. */
  readonly stringListValues: readonly string[];
  /** Reserved; always empty. */
  readonly binaryListValues: readonly string[];
}

/** With `reportBatchItemFailures`: the messages that come again. An empty list, or no answer, means success. */
export interface SqsBatchResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}
