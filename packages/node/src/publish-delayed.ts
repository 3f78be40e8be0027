import { type Broker, isExpired, type Log, type PublishRequest, remainingSeconds } from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import type { KeptMessage, KeptMessages } from './kept-messages.ts';
import type { Scheduler } from './scheduler.ts';

/** Until the next attempt, where the broker has no room for a message that is due. */
export const AGAIN_MS = 1_000;

export interface DelayedParts {
  readonly kept: KeptMessages;
  readonly clock: Scheduler;
  readonly log: Log;
}

export function delayedKey(tenant: string, messageId: string): string {
  return `${tenant}/${messageId}`;
}

/**
 * Publishes a message of `$delayed/SECONDS/TOPIC`, and forgets it afterwards: a kill between the two publishes it again. False: there
 * is no room for it now.
 */
export async function publishDelayed(
  { kept, clock, log }: DelayedParts,
  broker: Broker,
  key: string,
): Promise<boolean> {
  const found = await kept.get(key);
  if (found === undefined) return true;
  if (!isExpired(found.message, clock.now())) {
    const answer = await broker.publish(requestOf(found, clock.now()));
    if (answer instanceof Violation) {
      log.warn('delayed-message-refused', { topic: found.message.topic, reason: answer.reason });
      if (answer.reasonCode === ReasonCode.QuotaExceeded) return false;
    }
  }
  await kept.delete(found);
  return true;
}

function requestOf({ key, message }: KeptMessage, nowMs: number): PublishRequest {
  const [tenant = ''] = key.split('/');
  const { topic, payload, qos, retain, properties, expiresAtMs } = message;
  const expiry =
    expiresAtMs === undefined ? {} : { messageExpiryInterval: remainingSeconds(expiresAtMs, nowMs) };
  return { tenant, topic, payload, qos, retain, properties: { ...properties, ...expiry } };
}
