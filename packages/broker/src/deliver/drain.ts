import { mayReceive } from '../connect/authorize.ts';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import { type Connection, isReading, type Link } from '../model/link.ts';
import type { Message } from '../model/message.ts';
import type { Delivery, Queued } from '../model/session.ts';
import { reply } from '../reply.ts';
import { readOn } from '../streams/read-on.ts';
import { replay } from '../subscribe/replay.ts';
import { passOn, sent } from './deliver.ts';
import { logDropped, tellDropped } from './drops.ts';

/** Messages dequeued at a time. Between pages the broker asks the link for its room. */
const PAGE_LENGTH = 32;

/**
 * Sends the messages that wait for the session while its window and its link have room, and then retained messages. If
 * the queue has dropped messages, the client is told first.
 */
export function* drain(context: Context, link: Link, connection: Connection): Flow<void> {
  yield* tellDropped(context, connection.session, false);
  const isQueueEmpty = yield* drainQueue(context, link, connection);
  if (isQueueEmpty) yield* tellDropped(context, connection.session, true);
  setDraining(link, !isQueueEmpty);
  if (isQueueEmpty) yield* replay(context, link, connection);
  if (isReading(link)) yield* readOn(context, link, connection);
}

/** Whether nothing waits for the client, as far as that is known without waiting. */
export function isDrained(
  { ports: { queues, drops } }: Context,
  link: Link,
  { session }: Connection,
): boolean {
  const { state } = link;
  if (state.phase !== 'connected' || state.isDraining || state.replays.length > 0) return false;
  return queues.isIdle?.(session) === true && !isReading(link) && drops?.isDue(session, true) !== true;
}

/** True when no more messages may leave; false when the link has no room. */
function* drainQueue(context: Context, link: Link, connection: Connection): Flow<boolean> {
  const { queues, clock } = context.ports;
  const withoutPage = link.beforePage && (yield* waitFor(link.beforePage()));
  let isFirst = true;
  for (let bytes = link.roomBytes(); bytes > 0; bytes = link.roomBytes()) {
    const limit = { messages: PAGE_LENGTH, bytes };
    const page = yield* waitFor(queues.next(connection.session, limit, clock.now()));
    if (page.length === 0) {
      if (isFirst) withoutPage?.();
      return true;
    }
    isFirst = false;
    for (const queued of page) yield* send(context, link, connection, queued);
  }
  return false;
}

function setDraining(link: Link, isDraining: boolean): void {
  const { state } = link;
  if (state.phase === 'connected' && state.isDraining !== isDraining) link.state = { ...state, isDraining };
}

function* send(context: Context, link: Link, connection: Connection, queued: Queued): Flow<void> {
  if (queued.type === 'pubrel') {
    const { packetId } = queued;
    return reply(link, connection, { type: 'pubrel', packetId, reasonCode: 0, properties: {} });
  }
  const { message, delivery } = queued;
  // Rules may have changed while it waited. The delivery has the lower QoS of message and subscription: any is asked.
  const terms = { shareGroup: delivery.share?.shareGroup };
  if (!(yield* waitFor(mayReceive(context, connection, message.topic, terms)))) {
    return yield* drop(context, connection, message, delivery);
  }
  yield* sent(context, message, context.ports.connections.publish(message, [delivery]));
}

/** Another member of a share group gets the message, unless it may have been sent at QoS 2 [MQTT-4.8.2-5]. */
function* drop(context: Context, { session }: Connection, message: Message, delivery: Delivery): Flow<void> {
  context.ports.drops?.add(session, 'not-authorized', 1);
  logDropped(context, message, 1, 'not-authorized');
  yield* waitFor(context.ports.queues.complete(session, delivery.packetId));
  if (delivery.qos === 2 && delivery.dup) return;
  yield* passOn(context, message, delivery, session.incarnation);
}
