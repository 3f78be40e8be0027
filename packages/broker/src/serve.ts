import type { Context } from './context.ts';
import { deliver } from './deliver.ts';
import type { Flow } from './flow.ts';
import type { Message } from './message.ts';
import type { MatchedFilter } from './ports/index.ts';
import { route } from './route.ts';

/**
 * Delivers a message that `FanOut` took to some of the subscribers of a wide filter. A repeat may have reached any of
 * them already: at QoS 0 it is not sent again, at QoS 1 it comes under its old packet id with DUP, and a queue
 * knows the message by its id.
 */
export function* serve(
  context: Context,
  message: Message,
  subscribers: MatchedFilter,
  isRepeat: boolean,
): Flow<void> {
  const deliveries = route(context, message, [subscribers]);
  if (!isRepeat) return yield* deliver(context, message, deliveries);
  const repeated = deliveries.filter(({ qos }) => qos > 0);
  for (const delivery of repeated) delivery.dup = true;
  yield* deliver(context, message, repeated);
}
