import type { Outcome } from '@apus/emulator/service';
import { isObject } from '@apus/emulator/service';
import type { SqsRecord } from './events.ts';

/** The messages of a batch that come again, or the error because of which all of them do. */
export type BatchVerdict = ReadonlySet<string> | Error;

const NONE: ReadonlySet<string> = new Set();

/**
 * The meaning of a function's result. With failure reporting an empty list, no list and no answer are success; a name
 * that is no text, is empty, or is not of this batch fails the whole of it.
 */
export function judgeBatch(
  outcome: Outcome,
  records: readonly SqsRecord[],
  reportBatchItemFailures: boolean,
): BatchVerdict {
  if (outcome.kind === 'failed') return outcome.error;
  const { value } = outcome;
  if (!reportBatchItemFailures || value === null || value === undefined) return NONE;
  if (!isObject(value)) return malformed('an object with batchItemFailures', value);
  const { batchItemFailures: failures } = value;
  if (failures === undefined || failures === null) return NONE;
  if (!Array.isArray(failures)) return malformed('batchItemFailures to be a list', failures);
  const known = new Set(records.map(({ messageId }) => messageId));
  const failed = new Set<string>();
  for (const failure of failures) {
    const id: unknown = isObject(failure) ? failure.itemIdentifier : undefined;
    if (typeof id !== 'string' || !known.has(id)) {
      return malformed('each itemIdentifier to be a messageId of the batch', failure);
    }
    failed.add(id);
  }
  return failed;
}

/**
 * Whether the function returned a message of a FIFO group and took a later one: AWS allows it, and the order is lost.
 */
export function breaksOrder(records: readonly SqsRecord[], failed: ReadonlySet<string>): boolean {
  const groupsThatFailed = new Set<string>();
  for (const { attributes, messageId } of records) {
    const group = attributes.MessageGroupId ?? '';
    if (failed.has(messageId)) groupsThatFailed.add(group);
    else if (groupsThatFailed.has(group)) return true;
  }
  return false;
}

function malformed(expected: string, found: unknown): Error {
  const excerpt = (JSON.stringify(found) ?? 'nothing').slice(0, 100);
  return new Error(`Malformed batch response: expected ${expected}, got ${excerpt}`);
}
