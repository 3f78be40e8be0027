import {
  type Ban,
  type Broker,
  endsDelayed,
  isBanOn,
  isExpired,
  type KeptQuotas,
  type Log,
  latePublisher,
  type Publisher,
  type PublishRequest,
  quotaHolderOf,
  type RetainedHolder,
  type RetainedLimits,
  remainingSeconds,
} from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import type { Scheduler } from '../timers/scheduler.ts';
import type { KeptMessage, KeptMessages } from './kept-messages.ts';

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
  /** Of each identity. */
  readonly quotas: KeptQuotas;
}

export function delayedKey(tenant: string, messageId: string): string {
  return `${tenant}/${messageId}`;
}

/**
 * Clients ask for whole seconds. The clock may have gone on by a millisecond since the message was accepted: a later
 * message would be due before an earlier one.
 */
export function delayMsOf(dueAtMs: number, nowMs: number): number {
  return 1_000 * Math.round((dueAtMs - nowMs) / 1_000);
}

/** The identity that keeps the message, and what it and its tenant may keep [SEC-POOL-1]. */
export function delayedHolder(
  tenant: string,
  publisher: Publisher | undefined,
  quotas: KeptQuotas,
): RetainedHolder {
  const { identity, clientId } = publisher ?? { identity: { tenant, name: '' }, clientId: '' };
  const own = publisher && { ...quotas, ...identity.quotas };
  const { plan } = identity;
  return {
    holder: quotaHolderOf(identity, clientId),
    messagesMax: own?.delayedMessagesMax || Number.POSITIVE_INFINITY,
    bytesMax: own?.delayedBytesMax || Number.POSITIVE_INFINITY,
    ofTenant: {
      messagesMax: (plan?.delayedMessagesMax ?? DELAYED_MESSAGES_MAX) || Number.POSITIVE_INFINITY,
      bytesMax: (plan?.delayedBytesMax ?? DELAYED_BYTES_MAX) || Number.POSITIVE_INFINITY,
    },
  };
}

/** The publisher is charged, and asked again, when the message is due. */
export function delayedFacts(publisher: Publisher | undefined): Readonly<Record<string, string>> {
  return publisher === undefined ? {} : { publisher: JSON.stringify(latePublisher(publisher)) };
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

/** Messages that are looked at, and deleted, in one turn of the event loop. */
const FREED_IN_A_TURN = 1_000;

/**
 * Deletes the messages of banned clients, which would hold the room of others until they are due [SEC-POOL-2].
 *
 * @param forget drops the time of a message
 */
export async function freeDelayed(
  { kept, log }: DelayedParts,
  ban: Ban,
  forget: (key: string) => unknown,
): Promise<void> {
  if (!endsDelayed(ban)) return;
  let [looked, freed] = [0, 0];
  let pending: unknown[] = [];
  for await (const found of kept.all('#')) {
    looked += 1;
    if (looked % FREED_IN_A_TURN === 0) {
      await Promise.all(pending);
      pending = [];
      await new Promise(setImmediate);
    }
    const publisher = publisherOf(found);
    if (publisher === undefined) continue;
    const { identity, clientId } = publisher;
    if (!isBanOn(ban, identity, clientId, identity.address)) continue;
    freed += 1;
    // The message first: a kill in between leaves no message without a time.
    pending.push(Promise.resolve(kept.delete(found)).then(() => forget(found.key)));
  }
  await Promise.all(pending);
  if (freed > 0) log.info('delayed-messages-freed', { as: ban.as, who: ban.who, messages: freed });
}

function publisherOf({ facts }: KeptMessage): Publisher | undefined {
  return facts.publisher === undefined ? undefined : (JSON.parse(facts.publisher) as Publisher);
}

function requestOf(found: KeptMessage, nowMs: number): PublishRequest {
  const [tenant = ''] = found.key.split('/');
  const { topic, payload, qos, retain, properties, expiresAtMs } = found.message;
  const expiry =
    expiresAtMs === undefined ? {} : { messageExpiryInterval: remainingSeconds(expiresAtMs, nowMs) };
  const publisher = publisherOf(found);
  const request = { tenant, topic, payload, qos, retain, properties: { ...properties, ...expiry } };
  return publisher === undefined ? request : { ...request, publisher, hasWaited: true };
}
