import type { Context } from './context.ts';
import { type Flow, waitFor } from './flow.ts';
import type { Message } from './message.ts';
import type { DelayedMessages, Publisher } from './ports/index.ts';

interface LeavingOptions {
  /** No client waits for an answer. */
  readonly isWill?: boolean;
  readonly publisher?: Publisher | undefined;
}

/** Keeps a delayed message. It leaves, is retained and is delivered when it is due. */
export function* delay(
  delays: DelayedMessages,
  tenant: string,
  message: Message,
  seconds: number,
  { ports: { clock, writeQuota } }: Context,
  { publisher }: LeavingOptions,
): Flow<'delivered' | 'delays-full' | 'writes-exceeded'> {
  const writes = delays.writesOf?.(seconds) ?? 0;
  if (writes > 0 && publisher !== undefined && writeQuota !== undefined) {
    if (!(yield* waitFor(writeQuota.take(publisher, writes)))) return 'writes-exceeded';
  }
  const dueAtMs = clock.now() + seconds * 1000;
  const isKept = yield* waitFor(delays.keep(tenant, message, dueAtMs, publisher));
  return isKept ? 'delivered' : 'delays-full';
}

/** Asked again right before the queues: a message that is retained first waits for the disk in between. */
export function hasOutletRoom(
  { ports: { outlet } }: Context,
  tenant: string,
  message: Message,
  options: LeavingOptions,
): boolean {
  return outlet?.hasRoom === undefined || !hasAnswer(message, options) || outlet.hasRoom(tenant, message);
}

/** Asks the outlet first: a publisher that is refused sends again, and subscribers should not get the message twice. */
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
 * Whether the publisher can be refused, and send again. A client gets no answer for QoS 0 or for its will, so these
 * messages are delivered even if there is no room to retain them.
 */
export function hasAnswer({ qos, publisherKey }: Message, { isWill = false }: LeavingOptions): boolean {
  return !isWill && (qos > 0 || publisherKey === undefined);
}
