import type { Context } from './context.ts';
import { passOn, whenDelivered } from './deliver.ts';
import { type Flow, waitFor } from './flow.ts';
import type { ConnectionId, QueuedPublish, SessionRef } from './session.ts';

/** The session ends, and all it owned is forgotten. Its will has been published before, or is owed. */
export function* endSession(context: Context, session: SessionRef, connectionId: ConnectionId): Flow<void> {
  const isRemoved = yield* waitFor(context.ports.sessions.remove(session, connectionId));
  if (isRemoved) yield* discardState(context, session);
}

/**
 * Forgets what an ended incarnation owned [MQTT-3.1.2-4]; messages of shared subscriptions go to other members.
 *
 * What is to be passed on is forgotten when it has been, and the subscriptions last of all: as long as they are there, a
 * session that is not can be found, and all of this is done again by whoever finds it.
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
