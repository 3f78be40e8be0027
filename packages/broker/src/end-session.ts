import type { Context } from './context.ts';
import { passOn, whenDelivered } from './deliver.ts';
import { type Flow, waitFor } from './flow.ts';
import type { ConnectionId, QueuedPublish, SessionRef } from './session.ts';

/**
 * The session ends, and all it owned is forgotten. Its will has been published before, or is owed.
 *
 * @param hasRooms as it was read: see `SessionStore.remove`
 */
export function* endSession(
  context: Context,
  session: SessionRef,
  connectionId: ConnectionId,
  hasRooms?: boolean,
): Flow<void> {
  const isRemoved = yield* waitFor(context.ports.sessions.remove(session, connectionId, hasRooms));
  if (isRemoved) yield* discardState(context, session);
}

/**
 * Deletes the state of an ended incarnation [MQTT-3.1.2-4]; messages of shared subscriptions go to other members.
 *
 * Messages that are to be passed on are deleted after they have been, and the subscriptions last: as long as they are
 * there, the sweep can find the ended session and do all of this again.
 */
export function* discardState(context: Context, session: SessionRef): Flow<void> {
  const { subscriptions, queues, received } = context.ports;
  yield* waitFor(received.clear(session));
  const unacknowledged = yield* waitFor(queues.unacknowledged(session));
  for (const queued of unacknowledged) yield* passOnQueued(context, session, queued);
  const forget = function* (): Flow<void> {
    yield* waitFor(queues.clear(session));
    yield* waitFor(subscriptions.clear(session));
  };
  if (unacknowledged.length === 0) yield* forget();
  else yield* whenDelivered(context, forget);
}

/**
 * A message of a shared subscription that a lost member has not acknowledged goes to another member (section 4.8.2),
 * except at QoS 2 once it has been sent [MQTT-4.8.2-5].
 */
function* passOnQueued(context: Context, from: SessionRef, { message, delivery }: QueuedPublish): Flow<void> {
  if (delivery.qos === 2 && delivery.packetId !== 0) return;
  // Another copy than the one that it was for the session that has ended, and the same when this is done again.
  yield* passOn(context, message, { ...delivery, session: from }, from.incarnation);
}
