import type { PublishProperties, QoS } from '@apus/mqtt';
import type { Context } from './context.ts';
import { deliver } from './deliver.ts';
import { type Flow, waitFor } from './flow.ts';
import type { Message, MessageId } from './message.ts';
import { route } from './route.ts';

/** A PUBLISH, a will or a request from outside, before it is a message. */
export interface MessageDraft {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: QoS;
  readonly retain: boolean;
  readonly properties: PublishProperties;
  readonly publisherKey: string | undefined;
}

export type AcceptOutcome = 'delivered' | 'no-matching-subscribers' | 'retained-quota-exceeded';

export function createMessage(context: Context, draft: MessageDraft, id: MessageId): Message {
  const {
    messageExpiryInterval,
    topicAlias: _,
    subscriptionIdentifiers: __,
    ...properties
  } = draft.properties;
  return {
    id,
    topic: draft.topic,
    payload: owned(draft.payload),
    qos: draft.qos,
    retain: draft.retain,
    properties,
    expiresAtMs:
      messageExpiryInterval === undefined
        ? undefined
        : context.ports.clock.now() + messageExpiryInterval * 1000,
    publisherKey: draft.publisherKey,
  };
}

/** A small payload is a view of all that was read with it, and would keep that alive while it is retained or queued. */
function owned(payload: Uint8Array): Uint8Array {
  return payload.buffer.byteLength > 2 * payload.length ? Uint8Array.prototype.slice.call(payload) : payload;
}

/**
 * Takes responsibility for a message: retains it where asked, then finds its subscribers and delivers to them.
 *
 * Retained before matching, as a subscriber writes its subscription before it reads retained messages: whatever the
 * interleaving, it sees the newest value.
 */
export function* accept(context: Context, tenant: string, message: Message): Flow<AcceptOutcome> {
  const isRetained = message.retain ? yield* retain(context, tenant, message) : true;
  if (!isRetained && message.qos > 0) return 'retained-quota-exceeded';
  const matched = yield* waitFor(context.ports.subscriptions.match(tenant, message.topic));
  if (matched.length === 0) return 'no-matching-subscribers';
  const deliveries = route(context, message, matched);
  yield* deliver(context, message, deliveries);
  return deliveries.length === 0 ? 'no-matching-subscribers' : 'delivered';
}

/** Replaces the retained message of the topic [MQTT-3.3.1-5]; an empty payload removes it [MQTT-3.3.1-6] [MQTT-3.3.1-7]. */
function* retain(context: Context, tenant: string, message: Message): Flow<boolean> {
  const { retained, log } = context.ports;
  if (message.payload.length === 0) {
    yield* waitFor(retained.delete(tenant, message.topic, message.id));
    return true;
  }
  const isStored = yield* waitFor(retained.put(tenant, message, context.limits.retainedMessagesMax));
  if (!isStored) log.warn('retained-quota-exceeded', { tenant, topic: message.topic });
  return isStored;
}
