import { selectAttributes } from '../attributes.ts';
import { invalidAttributeName, invalidValue, requestThrottled, unsupported } from '../errors.ts';
import { type Input, integer, text, texts } from '../input.ts';
import { waitForMessages } from '../long-poll.ts';
import { md5OfAttributes, md5OfBody } from '../md5.ts';
import { type QueuedMessage, systemAttributesOf } from '../message.ts';
import type { Receive } from '../queue.ts';
import { receiptHandle } from '../receipt.ts';
import type { QueueAction, QueueRequest } from './action.ts';

const SYSTEM_ATTRIBUTES = new Set([
  'All',
  'AWSTraceHeader',
  'ApproximateFirstReceiveTimestamp',
  'ApproximateReceiveCount',
  'DeadLetterQueueSourceArn',
  'MessageDeduplicationId',
  'MessageGroupId',
  'SenderId',
  'SentTimestamp',
  'SequenceNumber',
  'SqsManagedSseEnabled',
]);

export const receiveMessage: QueueAction = async (request) => {
  const { bill, call, input, queue } = request;
  const { limits, settings, throughput } = queue.parts;
  const waitSeconds =
    ranged(input, 'WaitTimeSeconds', 0, limits.receiveWaitSecondsMax) ?? settings.receiveWaitSeconds;
  const receive = readReceive(request, waitSeconds);
  const show = presenter(input, queue.name);
  if (text(input, 'ReceiveRequestAttemptId') !== undefined) {
    throw unsupported('The emulator does not know ReceiveRequestAttemptId: receive without it.');
  }
  if (!throughput.takes(call.action)) throw requestThrottled();
  const messages = await waitForMessages(request, receive, waitSeconds);
  bill(messages.reduce((sum, { draft }) => sum + draft.bytes, 0));
  // Without messages the member is absent, as it is at AWS.
  return messages.length === 0 ? {} : { Messages: messages.map(show) };
};

function readReceive({ input, queue }: QueueRequest, waitSeconds: number): Receive {
  const { limits } = queue.parts;
  return {
    messagesMax: ranged(input, 'MaxNumberOfMessages', 1, limits.batchEntriesMax) ?? 1,
    visibilityTimeoutSeconds: ranged(input, 'VisibilityTimeout', 0, limits.visibilityTimeoutSecondsMax),
    failsOverLimit: waitSeconds === 0,
  };
}

/** A message as this receive wants to see it. */
function presenter(input: Input, queueName: string): (message: QueuedMessage) => object {
  const names = new Set([...texts(input, 'MessageSystemAttributeNames'), ...texts(input, 'AttributeNames')]);
  for (const name of names) if (!SYSTEM_ATTRIBUTES.has(name)) throw invalidAttributeName(name);
  const attributeNames = texts(input, 'MessageAttributeNames');
  return (message) => {
    const { id: messageId, draft, receipt } = message;
    const attributes = selectAttributes(draft.attributes, attributeNames);
    const md5 = md5OfAttributes(attributes);
    const system = Object.entries(systemAttributesOf(message)).filter(
      ([name]) => names.has('All') || names.has(name),
    );
    return {
      MessageId: messageId,
      ReceiptHandle: receiptHandle({ queueName, messageId, receipt }),
      MD5OfBody: md5OfBody(draft.body),
      Body: draft.body,
      ...(system.length > 0 && { Attributes: Object.fromEntries(system) }),
      ...(md5 !== undefined && { MD5OfMessageAttributes: md5, MessageAttributes: attributes }),
    };
  };
}

function ranged(input: Input, name: string, min: number, max: number): number | undefined {
  const value = integer(input, name);
  if (value === undefined || (value >= min && value <= max)) return value;
  throw invalidValue(value, name, `Must be >= ${min} and <= ${max}, if provided.`);
}
