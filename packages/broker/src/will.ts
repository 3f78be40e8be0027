import type { Will } from '@apus/mqtt';
import { accept, createMessage } from './accept.ts';
import type { Context } from './context.ts';
import { type Flow, waitFor } from './flow.ts';
import type { ConnectionId, SessionRef } from './session.ts';

/** Publishes the will that this connection brought, unless it has been published or discarded already. */
export function* publishWillOf(
  context: Context,
  session: SessionRef,
  connectionId: ConnectionId,
): Flow<void> {
  const will = yield* waitFor(context.ports.sessions.takeWill(session, connectionId));
  if (will !== undefined) yield* publishWill(context, session, will);
}

/** Publishes a will that the caller has taken: nobody else has it [MQTT-3.1.2-8]. It was authorised at CONNECT. */
export function* publishWill(context: Context, session: SessionRef, will: Will): Flow<void> {
  const { topic, payload, qos, retain } = will;
  const { willDelayInterval: _, ...properties } = will.properties;
  const draft = { topic, payload, qos, retain, properties, publisherKey: session.key };
  const message = createMessage(context, draft, context.messageClock.next());
  context.ports.log.debug('will-published', { clientId: session.clientId, topic });
  yield* accept(context, session.tenant, message);
}
