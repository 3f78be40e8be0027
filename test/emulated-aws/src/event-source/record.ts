import { md5OfAttributes, md5OfBody } from '../sqs/md5.ts';
import { type MessageAttributes, type QueuedMessage, systemAttributesOf } from '../sqs/message.ts';
import type { Queue } from '../sqs/queue.ts';
import { receiptHandle } from '../sqs/receipt.ts';
import type { SqsRecord, SqsRecordMessageAttribute } from './events.ts';

/** A message as the function sees it, with the handle of this receive. */
export function recordOf(queue: Queue, message: QueuedMessage, region: string): SqsRecord {
  const { id: messageId, draft, receipt } = message;
  const md5 = md5OfAttributes(draft.attributes);
  return {
    messageId,
    receiptHandle: receiptHandle({ queueName: queue.name, messageId, receipt }),
    body: draft.body,
    attributes: systemAttributesOf(message),
    messageAttributes: recordMessageAttributes(draft.attributes),
    md5OfBody: md5OfBody(draft.body),
    ...(md5 !== undefined && { md5OfMessageAttributes: md5 }),
    eventSource: 'aws:sqs',
    eventSourceARN: queue.parts.arn,
    awsRegion: region,
  };
}

function recordMessageAttributes(attributes: MessageAttributes): Record<string, SqsRecordMessageAttribute> {
  const entries = Object.entries(attributes).map(
    ([name, { DataType, StringValue, BinaryValue }]): [string, SqsRecordMessageAttribute] => [
      name,
      {
        dataType: DataType,
        ...(StringValue !== undefined && { stringValue: StringValue }),
        ...(BinaryValue !== undefined && { binaryValue: BinaryValue }),
        stringListValues: [],
        binaryListValues: [],
      },
    ],
  );
  return Object.fromEntries(entries);
}
