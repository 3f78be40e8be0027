import { readEntries, runEntries } from '../batch.ts';
import { invalidValue, messageNotInflight, missingParameter, requestThrottled } from '../errors.ts';
import { type Input, integer, requiredText } from '../input.ts';
import type { QueuedMessage } from '../message.ts';
import type { Queue } from '../queue.ts';
import { readReceiptHandle } from '../receipt.ts';
import type { QueueAction, QueueRequest } from './action.ts';

export const deleteMessage: QueueAction = (request) => {
  throttle(request);
  return deleteOne(request.queue, request.input);
};

export const deleteMessageBatch: QueueAction = (request) => {
  const entries = readEntries(request.input, 'DeleteMessageBatchRequestEntry', request.queue.parts.limits);
  throttle(request);
  return runEntries(entries, ({ input }) => deleteOne(request.queue, input));
};

export const changeMessageVisibility: QueueAction = (request) => {
  throttle(request);
  return changeOne(request.queue, request.input);
};

export const changeMessageVisibilityBatch: QueueAction = (request) => {
  const entryType = 'ChangeMessageVisibilityBatchRequestEntry';
  const entries = readEntries(request.input, entryType, request.queue.parts.limits);
  throttle(request);
  return runEntries(entries, ({ input }) => changeOne(request.queue, input));
};

/** Deletes a message by its handle, as DeleteMessage and the event source mappings do. */
export function deleteByHandle(queue: Queue, handle: string): void {
  const { message, isLatest } = findByHandle(queue, handle);
  // The message is gone already: deleting twice succeeds.
  if (message === undefined) return;
  if (queue.parts.settings.fifo) {
    if (!isLatest || message.state !== 'inFlight') throw expired(handle);
    queue.delete(message);
    return;
  }
  // The handle of an earlier receive: a standard queue answers with success and keeps the message.
  if (isLatest) queue.delete(message);
}

function deleteOne(queue: Queue, input: Input): object {
  deleteByHandle(queue, requiredText(input, 'ReceiptHandle'));
  return {};
}

function changeOne(queue: Queue, input: Input): object {
  const handle = requiredText(input, 'ReceiptHandle');
  const seconds = integer(input, 'VisibilityTimeout');
  if (seconds === undefined) throw missingParameter('VisibilityTimeout');
  const { clock, limits, settings } = queue.parts;
  const max = limits.visibilityTimeoutSecondsMax;
  if (seconds < 0 || seconds > max) {
    throw invalidValue(seconds, 'VisibilityTimeout', `VisibilityTimeout must be >= 0 and <= ${max}.`);
  }
  const { message, isLatest } = findByHandle(queue, handle);
  if (message !== undefined && settings.fifo && !(isLatest && message.state === 'inFlight')) {
    throw expired(handle);
  }
  if (message === undefined || !isLatest) {
    const reason = 'Message does not exist or is not available for visibility timeout change.';
    throw invalidValue(handle, 'ReceiptHandle', reason);
  }
  if (message.state !== 'inFlight') throw messageNotInflight();
  // Twelve hours at most, counted from the receive and not from this call.
  const heldSeconds = (clock.now() - message.receivedAtMs) / 1000;
  if (heldSeconds + seconds > max) {
    const reason = `Total VisibilityTimeout for the message is beyond the limit [${max} seconds]`;
    throw invalidValue(seconds, 'VisibilityTimeout', reason);
  }
  queue.changeVisibility(message, seconds);
  return {};
}

function findByHandle(
  queue: Queue,
  handle: string,
): { message: QueuedMessage | undefined; isLatest: boolean } {
  const { messageId, receipt } = readReceiptHandle(handle, queue.name);
  const message = queue.find(messageId);
  return { message, isLatest: message?.receipt === receipt };
}

function expired(handle: string) {
  return invalidValue(handle, 'ReceiptHandle', 'The receipt handle has expired.');
}

function throttle({ call, queue }: QueueRequest): void {
  if (!queue.parts.throughput.takes(call.action)) throw requestThrottled();
}
