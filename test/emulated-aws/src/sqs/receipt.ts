import type { Random } from '@apus/emulator/service';
import { receiptHandleIsInvalid } from './errors.ts';

/** The content of a receipt handle: one receive of one message. */
export interface Receipt {
  readonly queueName: string;
  readonly messageId: string;
  /** Different each time a message is received. */
  readonly receipt: string;
}

const SEPARATOR = ' ';

export function newReceipt(random: Random): string {
  return random.bytes(12).toString('base64url');
}

/** Opaque to callers, as AWS's are. */
export function receiptHandle({ queueName, messageId, receipt }: Receipt): string {
  return Buffer.from([queueName, messageId, receipt].join(SEPARATOR)).toString('base64');
}

/** Throws if the text is no receipt handle of this queue. */
export function readReceiptHandle(handle: string, queueName: string): Receipt {
  const bytes = Buffer.from(handle, 'base64');
  const [name, messageId, receipt, ...rest] = bytes.toString().split(SEPARATOR);
  const isWhole = messageId !== undefined && receipt !== undefined && rest.length === 0;
  // Decoding is lenient: only text that encodes to itself was once issued.
  if (!isWhole || name !== queueName || bytes.toString('base64') !== handle)
    throw receiptHandleIsInvalid(handle);
  return { queueName: name, messageId, receipt };
}
