import type { Context } from '../context.ts';
import type { AcceptOptions } from '../model/accept-outcome.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import { holderKeyOf } from '../model/quota-holder.ts';
import type { Delivery } from '../model/session.ts';
import type { StreamDeclaration } from '../model/stream-declaration.ts';
import type { StreamAppended } from '../ports/index.ts';

import { keyOf } from './position.ts';

export function streamOf({ ports: { streams } }: Context, topic: string): StreamDeclaration | undefined {
  return streams === undefined ? undefined : streams.declared.covering(topic);
}

export interface Placed extends StreamAppended {
  /** The message had been appended before, and its readers have it. */
  readonly isFound: boolean;
}

/**
 * Appends the message to the log of its topic. The caller has made every other check that may refuse it. A message
 * that may have been accepted before, at QoS 2 or as a will, is looked up first, so it has one place.
 */
export function* append(
  context: Context,
  tenant: string,
  stream: StreamDeclaration,
  message: Message,
  { isWill = false, publisher, origin, ordered }: AcceptOptions,
): Flow<Placed | 'full' | 'contended' | 'repeated'> {
  const { streams, clock, log } = context.ports;
  if (streams === undefined) throw new Error('there are no streams');
  const { store } = streams;
  if ((message.qos === 2 || isWill) && store.findAppended !== undefined) {
    const found = yield* waitFor(store.findAppended(tenant, message.topic, message.id));
    if (found !== undefined) return { ...found, isFound: true };
  }
  const holder = holderKeyOf(publisher);
  const options = { key: keyOf(message, stream.key), nowMs: clock.now(), isForced: isWill, holder, origin };
  ordered?.stayBehind();
  const appending = store.append(tenant, stream, message, options);
  if (appending instanceof Promise) ordered?.asked();
  const appended = yield* waitFor(appending);
  if (typeof appended !== 'string') return { ...appended, isFound: appended.isFound === true };
  if (appended === 'repeated') return appended;
  // Behind a message that was refused, and logged.
  if (appended === 'contended' && origin?.behind !== undefined) return appended;
  log.warn(`stream-${appended}`, { stream: stream.name, topic: message.topic });
  return appended;
}

/** The deliveries that leave now. A reader that is behind reads the message from history later. */
export function liveReaders(
  { ports: { connections } }: Context,
  { entry }: Pick<StreamAppended, 'entry'>,
  deliveries: readonly Delivery[],
): Delivery[] {
  return deliveries.filter(({ readers, session }) => {
    if (readers === undefined) return false;
    // Ask each reader: it notes the messages that it is not sent.
    let isTaken = false;
    for (const reader of readers) if (reader.takes(session, entry, connections)) isTaken = true;
    return isTaken;
  });
}
