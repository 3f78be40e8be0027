import {
  type Broker,
  chargedPublisher,
  isExpired,
  type Log,
  type Publisher,
  type PublishRequest,
  type RetainedLimits,
  remainingSeconds,
} from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import type { KeptMessage, KeptMessages, KeptShare } from './kept-messages.ts';
import type { Scheduler } from './scheduler.ts';

/** The time until the next attempt, if the broker has no room for a due message. */
export const AGAIN_MS = 1_000;

/** Messages of one tenant that wait to be published, and their bytes with properties. */
export const DELAYED_MESSAGES_MAX = 100_000;
export const DELAYED_BYTES_MAX = 32 * 1024 * 1024;

/** For all tenants: a tenant that has used up its own limit leaves the others as much [SEC-TENANT-9]. */
export const DELAYED_LIMITS: RetainedLimits = {
  messagesMax: 2 * DELAYED_MESSAGES_MAX,
  bytesMax: 2 * DELAYED_BYTES_MAX,
};

export interface DelayedParts {
  readonly kept: KeptMessages;
  readonly clock: Scheduler;
  readonly log: Log;
}

export function delayedKey(tenant: string, messageId: string): string {
  return `${tenant}/${messageId}`;
}

export function delayedShare(tenant: string): KeptShare {
  return { name: tenant, messagesMax: DELAYED_MESSAGES_MAX, bytesMax: DELAYED_BYTES_MAX };
}

/** The publisher is charged for the deliveries when they are made. */
export function delayedFacts(publisher: Publisher | undefined): Readonly<Record<string, string>> {
  return publisher === undefined ? {} : { publisher: JSON.stringify(chargedPublisher(publisher)) };
}

/**
 * Publishes a message of `$delayed/SECONDS/TOPIC`, and deletes it afterwards: after a kill in between it is published
 * again. False: there is no room for it now.
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

function requestOf({ key, message, facts }: KeptMessage, nowMs: number): PublishRequest {
  const [tenant = ''] = key.split('/');
  const { topic, payload, qos, retain, properties, expiresAtMs } = message;
  const expiry =
    expiresAtMs === undefined ? {} : { messageExpiryInterval: remainingSeconds(expiresAtMs, nowMs) };
  const request = { tenant, topic, payload, qos, retain, properties: { ...properties, ...expiry } };
  if (facts.publisher === undefined) return request;
  return { ...request, publisher: JSON.parse(facts.publisher) as Publisher };
}
