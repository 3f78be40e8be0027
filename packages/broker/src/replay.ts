import type { QoS } from '@apus/mqtt';
import type { Context } from './context.ts';
import { settleFailures } from './deliver.ts';
import { type Flow, waitFor } from './flow.ts';
import type { Connection, Link, Replay } from './link.ts';
import type { Message } from './message.ts';
import type { Delivery, Subscription } from './session.ts';

/** Retained messages sent at a time; between pages the link is asked how much it takes. */
const PAGE_LENGTH = 32;

/**
 * Sends retained messages to new subscriptions, a page at a time, while the connection takes more and nothing waits
 * in the session's queue. A hundred thousand of them thus need no memory, and nothing is dropped for being many.
 * What is read later is newer: it can repeat a live message, never undo it.
 */
export function* replay(context: Context, link: Link, connection: Connection): Flow<void> {
  for (;;) {
    const { state } = link;
    if (state.phase !== 'connected') return;
    const [current, ...rest] = state.replays;
    if (current === undefined || !(yield* hasRoom(context, link, connection))) return;
    const next = yield* replayPage(context, link, connection, current);
    link.state = { ...state, replays: next === undefined ? rest : [{ ...current, from: next }, ...rest] };
  }
}

function* hasRoom({ ports }: Context, link: Link, { session }: Connection): Flow<boolean> {
  return link.roomBytes() > 0 && (yield* waitFor(ports.queues.length(session))) === 0;
}

function* replayPage(
  context: Context,
  link: Link,
  connection: Connection,
  { subscription, from }: Replay,
): Flow<string | undefined> {
  const { retained, clock } = context.ports;
  const { tenant } = connection.identity;
  const limit = { messages: Math.min(PAGE_LENGTH, context.limits.queueLengthMax), bytes: link.roomBytes() };
  const page = yield* waitFor(retained.match(tenant, subscription.topicFilter, clock.now(), from, limit));
  for (const message of page.messages) yield* replayMessage(context, link, connection, subscription, message);
  return page.next;
}

function* replayMessage(
  context: Context,
  link: Link,
  { session }: Connection,
  { qos, subscriptionIdentifier }: Subscription,
  message: Message,
): Flow<void> {
  const { queues, connections, log } = context.ports;
  const { queueLengthMax, queueBytesMax, queueWhenFull: whenFull } = context.limits;
  const delivery: Delivery = {
    session,
    qos: Math.min(message.qos, qos) as QoS,
    // A retained message that answers a subscription says so, whatever Retain As Published is [MQTT3-3.3.1-8].
    retain: true,
    subscriptionIdentifiers: subscriptionIdentifier === undefined ? undefined : [subscriptionIdentifier],
    share: undefined,
    packetId: 0,
    dup: false,
  };
  if (delivery.qos > 0) {
    const dropped = yield* waitFor(
      queues.offer(message, [delivery], { queueLengthMax, queueBytesMax, whenFull }),
    );
    if (dropped > 0)
      log.info('messages-dropped', { why: 'queue-full', count: dropped, connectionId: link.id });
    if (delivery.packetId === 0) return;
  }
  const failures = yield* waitFor(connections.publish(message, [delivery]));
  if (failures !== undefined) yield* settleFailures(context, message, failures);
}
