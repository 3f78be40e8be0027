import type { Context } from '../context.ts';
import type { AcceptOptions } from '../model/accept-outcome.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Message } from '../model/message.ts';

/** Asked again right before the queues: a message that is retained first waits for the disk in between. */
export function hasOutletRoom(
  { ports: { outlet } }: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
): boolean {
  return (
    outlet?.hasRoom === undefined ||
    !hasAnswer(message, options) ||
    outlet.hasRoom(tenant, message, options.publisher)
  );
}

/** Asks the outlet first: a publisher that is refused sends again, and subscribers should not get the message twice. */
export function* isTakenByOutlet(
  { ports: { outlet } }: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
): Flow<boolean> {
  const taken = outlet?.take(tenant, message, hasAnswer(message, options));
  return taken === undefined || (yield* waitFor(taken));
}

/**
 * Whether the publisher can be refused, and send again. A client gets no answer for QoS 0 or for its will, so these
 * messages are delivered even if there is no room to retain them.
 */
export function hasAnswer({ qos, publisherKey }: Message, { isWill = false }: AcceptOptions): boolean {
  return !isWill && (qos > 0 || publisherKey === undefined);
}
