import type { Context } from '../context.ts';
import { passOn, whenDelivered } from '../deliver/deliver.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { ConnectionId, QueuedPublish, SessionRef } from '../model/session.ts';

/**
 * Ends the session and deletes its state. Its will has been published, or is owed.
 *
 * @param hasRooms whether the session was in rooms when it was read: see `SessionStore.remove`
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
 * Deletes the state of an ended incarnation [MQTT-3.1.2-4], and passes its messages of shared subscriptions on.
 *
 * Messages are deleted after they have been passed on, and the subscriptions last: while these exist, the sweep finds
 * the ended session and repeats all of this.
 */
export function* discardState(context: Context, session: SessionRef): Flow<void> {
  const { subscriptions, queues, received, drops } = context.ports;
  drops?.forget(session);
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
 * Passes a message of a shared subscription that a lost member has not acknowledged to another member (section 4.8.2);
 * but not at QoS 2 once it has been sent [MQTT-4.8.2-5].
 */
function* passOnQueued(context: Context, from: SessionRef, { message, delivery }: QueuedPublish): Flow<void> {
  if (delivery.qos === 2 && delivery.packetId !== 0) return;
  // Named after the incarnation: another copy than the one for the ended session, and the same one if this step is
  // repeated.
  yield* passOn(context, message, { ...delivery, session: from }, from.incarnation);
}
