import { type PublishReceipt, Unavailable } from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import { type HttpAnswer, jsonAnswer } from '../http.ts';
import { RETRY_AFTER_SECONDS } from './limits.ts';

/** The outcome of one message: it has left, it is refused, or the broker is unavailable now. */
export type PublishOutcome = PublishReceipt | Violation | Unavailable;

/** The outcomes of a request's messages, in their order, and the server's clock after them. */
export interface Published {
  readonly outcomes: readonly PublishOutcome[];
  readonly clock: string;
}

/** A message behind one that could not be taken: it would overtake it. */
export class NotReached extends Unavailable {
  override readonly name = 'NotReached';
  readonly reasonCode = ReasonCode.ServerBusy;
}

const OK = 200;
const ACCEPTED = 202;
const UNAVAILABLE = 503;
const RETRY_AFTER = { 'retry-after': String(RETRY_AFTER_SECONDS) };

/** Statuses of the errors of a message that are not 400. */
const STATUSES: ReadonlyMap<number, number> = new Map([
  [ReasonCode.NotAuthorized, 403],
  [ReasonCode.PacketTooLarge, 413],
  [ReasonCode.QuotaExceeded, 429],
  [ReasonCode.MessageRateTooHigh, 429],
]);

export function statusOf(outcome: PublishOutcome): number {
  if (outcome instanceof Violation) return STATUSES.get(outcome.reasonCode) ?? 400;
  // Larger than can be stored: it would not fit the next time either.
  if (outcome instanceof Unavailable)
    return outcome.reasonCode === ReasonCode.PacketTooLarge ? 413 : UNAVAILABLE;
  return outcome.outcome === 'delivered' ? OK : ACCEPTED;
}

/** `{"id": …}`, or `{"reason_code": 16, "message": …}` with a reason code of MQTT. */
function bodyOf(outcome: PublishOutcome): object {
  if (outcome instanceof Violation) return { reason_code: outcome.reasonCode, message: outcome.reason };
  if (outcome instanceof Unavailable) return { reason_code: outcome.reasonCode, message: outcome.message };
  if (outcome.outcome === 'delivered') return { id: outcome.messageId };
  return { reason_code: ReasonCode.NoMatchingSubscribers, message: 'no_matching_subscribers' };
}

export function answerOne(outcome: PublishOutcome): HttpAnswer {
  const status = statusOf(outcome);
  return jsonAnswer(status, bodyOf(outcome), retryHeaders(status));
}

/** 200 when each was delivered, 202 when some had no subscribers; otherwise the status of the first that was not taken. */
export function answerMany(outcomes: readonly PublishOutcome[]): HttpAnswer {
  const statuses = outcomes.map(statusOf);
  const failed = statuses.find((status) => status > ACCEPTED);
  const status = failed ?? (statuses.includes(ACCEPTED) ? ACCEPTED : OK);
  return jsonAnswer(status, outcomes.map(bodyOf), retryHeaders(status));
}

function retryHeaders(status: number): Readonly<Record<string, string>> {
  return status === 429 || status === UNAVAILABLE ? RETRY_AFTER : {};
}
