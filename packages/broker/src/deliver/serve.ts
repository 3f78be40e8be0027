import type { Context } from '../context.ts';
import type { Flow } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { DeliveryPayer } from '../model/quota-holder.ts';
import { isOnItsConnection, type MatchedFilter } from '../model/session.ts';

import { streamOf } from '../streams/append.ts';
import { feed } from '../streams/feed.ts';
import { placedEntry } from '../streams/position.ts';

import { spentOn } from './condition.ts';
import { conflated, deliver, repeated } from './deliver.ts';
import { route, routeWide } from './route.ts';

/**
 * Delivers a message that another process has accepted to the subscribers of this process: `matched` are its filters
 * with plain subscribers. Readers of a stream get it in the order of the topic's log.
 */
export function* relay(
  context: Context,
  tenant: string,
  message: Message,
  matched: readonly MatchedFilter[],
  payer?: DeliveryPayer,
): Flow<void> {
  const stream = streamOf(context, message.topic);
  const entry = stream && placedEntry(message, stream);
  const before = spentOn(context.ports);
  const deliveries = route(context, message, matched, entry?.message);
  const caused = deliveries.length + spentOn(context.ports) - before;
  if (payer !== undefined) context.ports.deliveryQuota?.charge?.(tenant, payer, caused);
  const isFed = stream !== undefined && context.ports.streams?.feed !== undefined;
  if (isFed && entry !== undefined) yield* feed(context, tenant, entry);
  const plain = isFed ? deliveries.filter(({ readers }) => readers === undefined) : deliveries;
  yield* deliver(context, message, conflated(context, message, plain));
}

/**
 * Delivers a message that `FanOut` has taken to some of the subscribers of a wide filter. If it is a repeat, some of
 * them may have the message.
 */
export function* serve(
  context: Context,
  message: Message,
  subscribers: MatchedFilter,
  isRepeat: boolean,
): Flow<void> {
  // A reader of a stream is sent nothing on another connection of its session.
  const deliveries = routeWide(message, subscribers).filter(
    ({ session, readers }) => readers?.some((reader) => isOnItsConnection(reader, session)) !== false,
  );
  yield* deliver(context, message, isRepeat ? repeated(deliveries) : deliveries);
}
