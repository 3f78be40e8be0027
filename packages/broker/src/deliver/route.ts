import type { QoS } from '@apus/mqtt';
import type { Context } from '../context.ts';
import type { Message } from '../model/message.ts';
import { type Delivery, deliveryOf, type MatchedFilter, type Subscriber } from '../model/session.ts';
import { fitting } from './condition.ts';

/** The name of the only copy for a session: its overlapping subscriptions get one. */
const ONLY_COPY = '';

/**
 * One delivery for each copy of the message that the matching subscriptions ask for.
 *
 * @param unplaced the message for conditions: as its publisher sent it, without what a stream adds
 * @param isCounted another call for the message counts which subscriptions it does not fit
 */
export function route(
  context: Context,
  message: Message,
  matched: readonly MatchedFilter[],
  unplaced = message,
  isCounted = false,
): Delivery[] {
  const deliveries: Delivery[] = [];
  const isOne = context.options.overlapping === 'one';
  const merged = isOne && matched.length > 1 ? new Map<string, number>() : undefined;
  for (const filter of fitting(context.ports, matched, unplaced, isCounted)) {
    if (filter.shareGroup !== undefined) addShareMember(context, message, filter, deliveries);
    else addSubscribers(message, filter, deliveries, isOne ? ONLY_COPY : filter.topicFilter, merged);
  }
  return deliveries;
}

/**
 * Deliveries to some subscribers of a wide filter. A worker serves them without knowing other filters, so the copy is
 * named after the filter.
 */
export function routeWide(message: Message, filter: MatchedFilter): Delivery[] {
  const deliveries: Delivery[] = [];
  addSubscribers(message, filter, deliveries, filter.topicFilter, undefined);
  return deliveries;
}

/** Exactly one member of a share group gets the message, at its own QoS [MQTT-4.8.2-3]. */
function addShareMember(
  context: Context,
  message: Message,
  group: MatchedFilter,
  deliveries: Delivery[],
): void {
  const canWait = message.qos > 0;
  const member = context.shareRotation.choose(group, context.ports.connections, canWait);
  if (member !== undefined) deliveries.push(deliveryOf(message, member, ONLY_COPY));
}

function addSubscribers(
  message: Message,
  filter: MatchedFilter,
  deliveries: Delivery[],
  copy: string,
  merged: Map<string, number> | undefined,
): void {
  for (const subscriber of filter.subscribers) {
    // No Local: never back to the client identifier that published it [MQTT-3.8.3-3].
    if (subscriber.subscription.noLocal && subscriber.session.key === message.publisherKey) continue;
    if (merged === undefined) deliveries.push(deliveryOf(message, subscriber, copy));
    else addMerged(message, subscriber, deliveries, merged);
  }
}

/**
 * Overlapping subscriptions of one session become one copy, at the highest QoS of them [MQTT-3.3.4-2], with the
 * identifiers of all of them [MQTT-3.3.4-4].
 */
function addMerged(
  message: Message,
  subscriber: Subscriber,
  deliveries: Delivery[],
  merged: Map<string, number>,
): void {
  const delivery = deliveryOf(message, subscriber, ONLY_COPY);
  const index = merged.get(subscriber.session.key);
  const earlier = index === undefined ? undefined : deliveries[index];
  if (index === undefined || earlier === undefined) {
    merged.set(subscriber.session.key, deliveries.length);
    deliveries.push(delivery);
    return;
  }
  deliveries[index] = {
    ...delivery,
    qos: Math.max(earlier.qos, delivery.qos) as QoS,
    retain: earlier.retain || delivery.retain,
    subscriptionIdentifiers: joined(earlier.subscriptionIdentifiers, delivery.subscriptionIdentifiers),
    // A plain subscription gets the message in any case.
    readers: earlier.readers && delivery.readers && [...earlier.readers, ...delivery.readers],
    // A subscription that asks for each message gets each.
    conflate: earlier.conflate && delivery.conflate,
    mustArrive: earlier.mustArrive === true || delivery.mustArrive === true,
  };
}

function joined(
  one: readonly number[] | undefined,
  other: readonly number[] | undefined,
): readonly number[] | undefined {
  return one === undefined ? other : other === undefined ? one : [...one, ...other];
}
