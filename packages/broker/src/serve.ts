import type { Context } from './context.ts';
import { conflated, deliver, repeated } from './deliver.ts';
import type { Flow } from './flow.ts';
import type { Message } from './message.ts';
import type { MatchedFilter } from './ports/index.ts';
import { route, routeWide } from './route.ts';
import { isOnItsConnection } from './streams/reader.ts';

/** Delivers a message that another process has accepted to subscribers of this one. */
export function relay(context: Context, message: Message, matched: readonly MatchedFilter[]): Flow<void> {
  return deliver(context, message, conflated(context, message, route(context, message, matched)));
}

/**
 * Delivers a message that `FanOut` took to some of the subscribers of a wide filter. A repeat may have reached any of
 * them already.
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
