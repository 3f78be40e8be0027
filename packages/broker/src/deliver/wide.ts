import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { DeliveryPayer } from '../model/quota-holder.ts';
import type { MatchedFilter } from '../model/session.ts';
import type { FanOut, WideFilter } from '../ports/index.ts';
import { underWay } from '../publish/under-way.ts';
import { deliver } from './deliver.ts';
import { route } from './route.ts';

/** The filters that have further subscribers in shards. */
export function wideFilters(tenant: string, matched: readonly MatchedFilter[]): WideFilter[] {
  const wide: WideFilter[] = [];
  for (const { topicFilter, shards = 0, isBehind = false } of matched) {
    if (shards > 0) wide.push({ tenant, topicFilter, shards, isBehind });
  }
  return wide;
}

/** False: the workers are too far behind, and nothing was handed over. */
export function* fanOut(
  context: Context,
  message: Message,
  wide: readonly WideFilter[],
  isAnswered = false,
  payer?: DeliveryPayer,
): Flow<boolean> {
  const isTaken = yield* waitFor(fanOutOf(context).accept(message, wide, isAnswered, payer));
  if (!isTaken) logBacklog(context, message);
  return isTaken;
}

export function* hasRoom(context: Context, message: Message, wide: readonly WideFilter[]): Flow<boolean> {
  const isRoom = yield* waitFor(fanOutOf(context).hasRoom(wide, message));
  if (!isRoom) logBacklog(context, message);
  return isRoom;
}

/**
 * Waits until all workers have the message as durable as its QoS asks. False: a process had no room for it for too
 * long, although other subscribers have it.
 */
export function* isTaken(context: Context, message: Message): Flow<boolean> {
  return yield* underWay(waitFor(fanOutOf(context).confirmed?.(message) ?? true));
}

export function fanOutOf({ ports: { fanOut } }: Context): FanOut {
  if (fanOut === undefined) throw new Error('the store leaves shards to workers, and there is no FanOut');
  return fanOut;
}

/** Sends a message of the broker's own. False: workers are too far behind, and no subscriber gets it. */
export function* sendToAll(
  context: Context,
  tenant: string,
  message: Message,
  matched: readonly MatchedFilter[],
): Flow<boolean> {
  const wide = wideFilters(tenant, matched);
  // The subscribers of a match are valid until a port is waited for.
  const deliveries = route(context, message, matched);
  if (wide.length > 0 && !(yield* fanOut(context, message, wide))) return false;
  if (deliveries.length > 0) yield* deliver(context, message, deliveries);
  return true;
}

function logBacklog({ ports: { log } }: Context, { topic, id }: Message): void {
  log.warn('fan-out-backlog-full', { topic, messageId: id });
}
