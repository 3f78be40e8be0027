import type { Context } from '../context.ts';
import { spentOn } from '../deliver/condition.ts';
import { conflated, deliverOffered, offer, PASSES_MAX, send, sent, sort } from '../deliver/deliver.ts';
import { route } from '../deliver/route.ts';
import type { Accepted, AcceptOptions, AcceptOutcome } from '../model/accept-outcome.ts';
import type { Flow } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { OrderedPublish } from '../model/publish-order.ts';
import type { Delivery, MatchedFilter } from '../model/session.ts';
import { streamOf } from '../streams/append.ts';
import { forward, forwardIfAllowed, unrouted } from './forward.ts';
import { asUnderWay, underWay } from './under-way.ts';

const NONE: readonly never[] = [];

/**
 * `forward` by straight calls, while every port answers at once and nothing but the subscribers of this process gets
 * the message. A flow: the work that is left, behind a port that has to be waited for or on the general way.
 */
export function forwardNow(
  context: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
): Accepted | Flow<AcceptOutcome> {
  const { subscriptions, deliveryQuota } = context.ports;
  if (options.ordered?.isNext === false || !isPlain(context, tenant, message, options))
    return forward(context, tenant, message, options);
  const matched = subscriptions.match(tenant, message.topic);
  if (matched instanceof Promise || matched.some(isWide))
    return forward(context, tenant, message, options, false, matched);
  if (matched.length === 0) return unrouted(context, message);
  const before = spentOn(context.ports);
  const deliveries = route(context, message, matched);
  const caused = deliveries.length + spentOn(context.ports) - before;
  const { publisher } = options;
  const mayCause = publisher && deliveryQuota?.take(publisher, caused, NONE);
  if (mayCause !== true && mayCause !== undefined) {
    const rest = { stream: undefined, deliveries, wide: NONE, isToBeRetained: false };
    return forwardIfAllowed(context, { tenant, message, options, ...rest }, mayCause);
  }
  if (deliveries.length === 0) return unrouted(context, message);
  try {
    const rest = deliverNow(context, message, conflated(context, message, deliveries), options.ordered);
    return rest === undefined ? 'delivered' : deliveredBehind(rest);
  } catch (error) {
    throw asUnderWay(error);
  }
}

/** Whether the message needs none of the steps that only `forward` has. */
function isPlain(context: Context, tenant: string, message: Message, options: AcceptOptions): boolean {
  const { ports } = context;
  if (ports.outbox !== undefined || ports.outlet !== undefined || options.isRepeat === true) return false;
  if (message.qos > 0 && (ports.memory?.isFull === true || ports.memory?.isQueueFull(tenant) === true))
    return false;
  return streamOf(context, message.topic) === undefined;
}

function isWide({ shards = 0 }: MatchedFilter): boolean {
  return shards > 0;
}

/** `deliver` by straight calls. */
function deliverNow(
  context: Context,
  message: Message,
  deliveries: readonly Delivery[],
  ordered: OrderedPublish | undefined,
): Flow<void> | undefined {
  const sorted = sort(context, { message, deliveries, passes: PASSES_MAX });
  if (sorted === undefined) return undefined;
  const offering = offer(context, sorted);
  if (offering !== 0 || sorted.queued.some(isPassedOn))
    return deliverOffered(context, sorted, offering, ordered);
  const sending = send(context, sorted);
  return sending && sent(context, message, sending);
}

function isPassedOn({ passOnAs }: Delivery): boolean {
  return passOnAs !== undefined;
}

function* deliveredBehind(rest: Flow<void>): Flow<AcceptOutcome> {
  yield* underWay(rest);
  return 'delivered';
}
