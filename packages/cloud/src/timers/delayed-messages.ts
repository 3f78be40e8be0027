import type { DelayedMessages, Message, Publisher, PublishRequest } from '@apus/broker';
import { chargedPublisher, isExpired, remainingSeconds } from '@apus/broker';
import type { DelayedTimer } from './message.ts';
import { HOP_SECONDS_MAX, type SqsTimers } from './sqs-timers.ts';

/** The three SQS requests of a hop, and its share of an invocation, are two write units. */
const WRITES_PER_HOP = 2;

/**
 * Messages of `$delayed/SECONDS/TOPIC` as delayed messages of the timers' queue: one that is due later than SQS can delay
 * it takes several hops. Its publisher is charged for the hops when it comes, and for the deliveries when it is due.
 */
export class SqsDelayedMessages implements DelayedMessages {
  readonly #timers: SqsTimers;

  constructor(timers: SqsTimers) {
    this.#timers = timers;
  }

  /** True when the queue has the message. Rejects with `QueueUnavailable` when it may lack it. */
  async keep(
    tenant: string,
    message: Message,
    dueAtMs: number,
    publisher: Publisher | undefined,
  ): Promise<true> {
    const charged = publisher && chargedPublisher(publisher);
    await this.#timers.armDelayed({ kind: 'delayed', tenant, message, dueAtMs, publisher: charged });
    return true;
  }

  writesOf(delaySeconds: number): number {
    return WRITES_PER_HOP * Math.max(1, Math.ceil(delaySeconds / HOP_SECONDS_MAX));
  }
}

/** The message, now that it is due; undefined where it has expired. */
export function dueRequest(
  { tenant, message, publisher }: DelayedTimer,
  nowMs: number,
): PublishRequest | undefined {
  if (isExpired(message, nowMs)) return undefined;
  const { topic, payload, qos, retain, properties, expiresAtMs } = message;
  const expiry =
    expiresAtMs === undefined ? {} : { messageExpiryInterval: remainingSeconds(expiresAtMs, nowMs) };
  const request = { tenant, topic, payload, qos, retain, properties: { ...properties, ...expiry } };
  return publisher === undefined ? request : { ...request, publisher };
}
