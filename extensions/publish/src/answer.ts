import { type PublishError, type PublishErrorFields, PublishRefused, PublishUnavailable } from './errors.ts';
import type { Receipt } from './message.ts';

const NO_MATCHING_SUBSCRIBERS = 0x10;

/**
 * The answer to one request: the messages that left, from the first on, and the reason why the next one did not leave.
 */
export interface Answered {
  readonly receipts: readonly Receipt[];
  readonly failure: Failure | undefined;
}

export interface Failure {
  readonly message: string;
  readonly fields: PublishErrorFields;
  /** Whether another try may succeed. */
  readonly isPassing: boolean;
  /** The least pause before the next try. */
  readonly retryAfterMs: number;
}

interface Entry {
  readonly id?: unknown;
  readonly reason_code?: unknown;
  readonly message?: unknown;
  /** The form in which AWS answers instead of the endpoint. */
  readonly Message?: unknown;
}

/** Reads the answer to `count` messages. */
export async function readAnswer(response: Response, count: number): Promise<Answered> {
  const entries = entriesOf(await response.text());
  const isList = entries.length === count;
  const receipts: Receipt[] = [];
  for (const entry of isList ? entries : []) {
    const receipt = receiptOf(entry);
    if (receipt === undefined) return { receipts, failure: failureOf(response, entry) };
    receipts.push(receipt);
  }
  if (isList && response.ok) return { receipts, failure: undefined };
  return { receipts: [], failure: failureOf(response, entries[0] ?? {}) };
}

/** The answers of a bulk request, or the single answer as a list; empty if the answer is not from Apus. */
function entriesOf(text: string): readonly Entry[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
    return typeof value === 'object' && value !== null ? [value] : [];
  } catch {
    return [];
  }
}

function receiptOf({ id, reason_code: reasonCode }: Entry): Receipt | undefined {
  if (typeof id === 'string') return { id, hasSubscribers: true };
  if (reasonCode === NO_MATCHING_SUBSCRIBERS) return { id: undefined, hasSubscribers: false };
  return undefined;
}

function failureOf(response: Response, entry: Entry): Failure {
  const { status, headers } = response;
  const { reason_code: reasonCode } = entry;
  return {
    message: messageOf(status, entry),
    fields: { status, reasonCode: typeof reasonCode === 'number' ? reasonCode : undefined },
    isPassing: status === 429 || status >= 500,
    retryAfterMs: (Number(headers.get('retry-after')) || 0) * 1_000,
  };
}

function messageOf(status: number, { message, Message }: Entry): string {
  if (typeof message === 'string') return message;
  if (status === 403 && typeof Message === 'string')
    return `AWS refuses the request (${Message}): its signer needs lambda:InvokeFunctionUrl and lambda:InvokeFunction.`;
  return `The answer (HTTP ${status}) is none of this API: is the URL right?`;
}

export function errorOf(
  { message, fields, isPassing }: Failure,
  published: readonly Receipt[],
): PublishError {
  const all = { ...fields, published };
  return isPassing ? new PublishUnavailable(message, all) : new PublishRefused(message, all);
}
