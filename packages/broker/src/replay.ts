import type { QoS } from '@apus/mqtt';
import type { Context } from './context.ts';
import { handleFailures, isUnkept, queueLimits } from './deliver.ts';
import { logDropped } from './drops.ts';
import { type Flow, waitFor } from './flow.ts';
import type { Connection, Link, Replay } from './link.ts';
import type { Message } from './message.ts';
import { type RetainedPage, Unavailable } from './ports/index.ts';
import { isPresenceFilter } from './presence/names.ts';
import type { Delivery, Subscription } from './session.ts';

/** Retained messages sent at a time; between pages the link is asked how much it takes. */
const PAGE_LENGTH = 32;

/**
 * Sends retained messages to new subscriptions, a page at a time, while the link has room and no message waits in the
 * session's queue. So a hundred thousand of them need no memory, and none is dropped. A retained message that is read
 * later is newer: it can repeat a live message, and never undoes one.
 */
export function* replay(context: Context, link: Link, connection: Connection): Flow<void> {
  for (;;) {
    const { state } = link;
    if (state.phase !== 'connected') return;
    const [current, ...rest] = state.replays;
    if (current === undefined || link.roomBytes() <= 0) return;
    const page = yield* nextPage(context, link, connection, current);
    if (page === 'put-off') return link.putOff?.();
    if (page === 'held-back') return;
    for (const message of page.messages)
      yield* replayMessage(context, connection, current.subscription, message);
    const { next } = page;
    link.state = { ...state, replays: next === undefined ? rest : [{ ...current, from: next }, ...rest] };
  }
}

/**
 * The next page, if it may be sent now. If a read fails, nothing of the page has been sent, and the client's next
 * packet reads it again. If a write fails, some of the page may have been sent, and would come twice.
 */
function* nextPage(
  context: Context,
  link: Link,
  connection: Connection,
  current: Replay,
): Flow<RetainedPage | 'held-back' | 'put-off'> {
  try {
    const page = yield* readPage(context, link, connection, current);
    // Most filters have nothing retained. Then the queue is not asked, which saves a read at the gateway door.
    if (page.messages.length > 0 && (yield* isSomethingWaiting(context, connection))) return 'held-back';
    return page;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const { reasonCode, message: reason } = error;
    context.ports.log.warn('unavailable', { what: 'retained messages', reasonCode, reason });
    return 'put-off';
  }
}

/**
 * If messages wait, the client's next packets bring them first. `lookAgain` makes sure that they are dequeued:
 *
 *     publisher                          handler of SUBSCRIBE
 *     stores a message
 *     dies before it says that it waits
 *                                        reads: one message waits, and none is dequeued
 *     (without it the retained messages would be held back until the next connection)
 */
function* isSomethingWaiting({ ports: { queues } }: Context, { session }: Connection): Flow<boolean> {
  if ((yield* waitFor(queues.length(session))) === 0) return false;
  if (queues.lookAgain !== undefined) yield* waitFor(queues.lookAgain(session));
  return true;
}

function* readPage(
  context: Context,
  link: Link,
  { identity: { tenant } }: Connection,
  { subscription: { topicFilter }, from }: Replay,
): Flow<RetainedPage> {
  const { retained, presence, clock } = context.ports;
  const limit = { messages: Math.min(PAGE_LENGTH, context.limits.queueLengthMax), bytes: link.roomBytes() };
  if (presence !== undefined && isPresenceFilter(topicFilter))
    return yield* waitFor(presence.store.match(tenant, topicFilter, from, limit));
  return yield* waitFor(retained.match(tenant, topicFilter, clock.now(), from, limit));
}

function* replayMessage(
  context: Context,
  { session }: Connection,
  { qos, subscriptionIdentifier }: Subscription,
  message: Message,
): Flow<void> {
  const { queues, connections, drops } = context.ports;
  const delivery: Delivery = {
    session,
    qos: Math.min(message.qos, qos) as QoS,
    // RETAIN is 1 on a retained message sent for a new subscription; Retain As Published has no part [MQTT3-3.3.1-8].
    retain: true,
    subscriptionIdentifiers: subscriptionIdentifier === undefined ? undefined : [subscriptionIdentifier],
    share: undefined,
    packetId: 0,
    dup: false,
  };
  if (delivery.qos > 0 && !isUnkept(message, delivery)) {
    const dropped = yield* waitFor(queues.offer(message, [delivery], queueLimits(context)));
    if (dropped > 0) {
      drops?.add(session, 'queue-full', dropped);
      logDropped(context, message, dropped, 'queue-full');
    }
    if (delivery.packetId === 0) return;
  }
  const failures = yield* waitFor(connections.publish(message, [delivery]));
  if (failures !== undefined) yield* handleFailures(context, message, failures);
}
