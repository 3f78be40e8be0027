import { readEntries, runEntries } from '../batch.ts';
import { readDraft } from '../draft.ts';
import { batchTooLong, internalError, requestThrottled, SqsError } from '../errors.ts';
import { md5OfAttributes, md5OfBody } from '../md5.ts';
import type { MessageDraft } from '../message.ts';
import type { Queue } from '../queue.ts';
import type { QueueAction, QueueRequest } from './action.ts';

export const sendMessage: QueueAction = (request) => {
  const { queue, input, senderId } = request;
  const { limits, settings } = queue.parts;
  const draft = readDraft(input, settings, limits, senderId);
  return withSendFaults(request, [draft], () => send(queue, draft));
};

export const sendMessageBatch: QueueAction = (request) => {
  const { queue, input, senderId } = request;
  const { limits, settings } = queue.parts;
  const entries = readEntries(input, 'SendMessageBatchRequestEntry', limits);
  const drafts = new Map<string, MessageDraft | SqsError>();
  for (const entry of entries) {
    drafts.set(
      entry.id,
      asValue(() => readDraft(entry.input, settings, limits, senderId)),
    );
  }
  const valid = [...drafts.values()].flatMap((draft) => (draft instanceof SqsError ? [] : [draft]));
  const wholeRequest = [...drafts.values()].find((draft) => draft instanceof SqsError && failsWhole(draft));
  if (wholeRequest !== undefined) throw wholeRequest;
  const bytes = bytesOf(valid);
  if (bytes > limits.messageBytesMax) throw batchTooLong(limits.messageBytesMax, bytes);
  return withSendFaults(request, valid, () =>
    runEntries(entries, ({ id }) => sendEntry(request, drafts.get(id))),
  );
};

function sendEntry({ queue, call }: QueueRequest, draft: MessageDraft | SqsError | undefined): object {
  if (draft === undefined || draft instanceof SqsError) throw draft ?? internalError();
  const { dice, faults } = queue.parts;
  const entry = { ...call, body: draft.body };
  if (dice.strikes('sendEntryFails', faults.sendEntryFails, entry)) throw internalError();
  return send(queue, draft);
}

function send(queue: Queue, draft: MessageDraft): object {
  const { messageId, sequenceNumber } = queue.send(draft);
  const md5OfUser = md5OfAttributes(draft.attributes);
  const md5OfSystem = md5OfAttributes(draft.systemAttributes);
  return {
    MessageId: messageId,
    MD5OfMessageBody: md5OfBody(draft.body),
    ...(md5OfUser !== undefined && { MD5OfMessageAttributes: md5OfUser }),
    ...(md5OfSystem !== undefined && { MD5OfMessageSystemAttributes: md5OfSystem }),
    ...(sequenceNumber !== undefined && { SequenceNumber: sequenceNumber }),
  };
}

function withSendFaults(
  { queue, call, bill }: QueueRequest,
  drafts: readonly MessageDraft[],
  act: () => object,
): object {
  const { dice, faults, throughput } = queue.parts;
  bill(bytesOf(drafts));
  const groupIds = drafts.flatMap(({ groupId }) => groupId ?? []);
  if (!throughput.takes(call.action, groupIds)) throw requestThrottled();
  if (dice.strikes('sendFails', faults.sendFails, call)) throw internalError();
  const answer = act();
  if (dice.strikes('sendFailsAfterwards', faults.sendFailsAfterwards, call)) throw internalError();
  return answer;
}

function bytesOf(drafts: readonly MessageDraft[]): number {
  return drafts.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The errors of fields that a FIFO queue requires of each message: if one entry lacks one, the whole batch fails. */
function failsWhole({ code, message }: SqsError): boolean {
  return code === 'MissingParameter' || message.includes('ContentBasedDeduplication');
}

function asValue(read: () => MessageDraft): MessageDraft | SqsError {
  try {
    return read();
  } catch (error) {
    if (error instanceof SqsError) return error;
    throw error;
  }
}
