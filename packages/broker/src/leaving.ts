import type { Context } from './context.ts';
import { type Flow, waitFor } from './flow.ts';
import type { Message } from './message.ts';
import type { DelayedMessages } from './ports/index.ts';

interface LeavingOptions {
  /** No client waits for an answer. */
  readonly isWill?: boolean;
}

/** It leaves, is retained and is delivered when it is due. */
export function* delay(
  delays: DelayedMessages,
  tenant: string,
  message: Message,
  seconds: number,
  { ports: { clock } }: Context,
): Flow<'delivered' | 'delays-full'> {
  const isKept = yield* waitFor(delays.keep(tenant, message, clock.now() + seconds * 1000));
  return isKept ? 'delivered' : 'delays-full';
}

/** Asked again right before the queues are: a message that is retained first waits for the disk meanwhile. */
export function hasOutletRoom(
  { ports: { outlet } }: Context,
  tenant: string,
  message: Message,
  options: LeavingOptions,
): boolean {
  return outlet?.hasRoom === undefined || !hasAnswer(message, options) || outlet.hasRoom(tenant, message);
}

/** First: a publisher that is refused sends again, and subscribers should not get the message twice. */
export function* leaves(
  { ports: { outlet } }: Context,
  tenant: string,
  message: Message,
  options: LeavingOptions,
): Flow<boolean> {
  const taken = outlet?.take(tenant, message, hasAnswer(message, options));
  return taken === undefined || (yield* waitFor(taken));
}

/**
 * A publisher that learns of a refusal can send the message again. A client gets no answer for QoS 0 or for its will,
 * so these are delivered even when there is no room to retain them.
 */
export function hasAnswer({ qos, publisherKey }: Message, { isWill = false }: LeavingOptions): boolean {
  return !isWill && (qos > 0 || publisherKey === undefined);
}
