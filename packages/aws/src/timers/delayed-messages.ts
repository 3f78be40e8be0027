import type { DelayedMessages, Message, Publisher, PublishRequest } from '@apus/broker';
import { isExpired, latePublisher, remainingSeconds } from '@apus/broker';
import type { DelayedTimer } from './message.ts';
import { HOP_SECONDS_MAX, type SqsTimers } from './sqs-timers.ts';

/** A hop costs as much as two write units: three SQS requests, and a share of an invocation. */
const WRITES_PER_HOP = 2;

/**
 * Messages of `$delayed/SECONDS/TOPIC`, as delayed messages in the timers' queue. A message that is due later than SQS
 * can delay takes several hops. The publisher is charged for the hops when it publishes, and for the deliveries when
 * the message is due.
 */
export class SqsDelayedMessages implements DelayedMessages {
  readonly #timers: SqsTimers;

  constructor(timers: SqsTimers) {
    this.#timers = timers;
  }

  /** True when the queue has the message. Rejects with `QueueUnavailable` when it may be missing there. */
  async keep(
    tenant: string,
    message: Message,
    dueAtMs: number,
    publisher: Publisher | undefined,
  ): Promise<true> {
    const charged = publisher && latePublisher(publisher);
    await this.#timers.armDelayed({ kind: 'delayed', tenant, message, dueAtMs, publisher: charged });
    return true;
  }

  writesOf(delaySeconds: number): number {
    return WRITES_PER_HOP * Math.max(1, Math.ceil(delaySeconds / HOP_SECONDS_MAX));
  }
}

/** The message that is now due. Undefined: it has expired. */
export function dueRequest(
  { tenant, message, publisher }: DelayedTimer,
  nowMs: number,
): PublishRequest | undefined {
  if (isExpired(message, nowMs)) return undefined;
  const { topic, payload, qos, retain, properties, expiresAtMs } = message;
  const expiry =
    expiresAtMs === undefined ? {} : { messageExpiryInterval: remainingSeconds(expiresAtMs, nowMs) };
  const request = { tenant, topic, payload, qos, retain, properties: { ...properties, ...expiry } };
  return publisher === undefined ? request : { ...request, publisher, hasWaited: true };
}
