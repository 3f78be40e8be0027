import type { Context } from '../context.ts';
import { spentOn } from '../deliver/condition.ts';
import { conflated, deliver, PASSES_MAX, repeated } from '../deliver/deliver.ts';
import { route } from '../deliver/route.ts';
import { fanOut, fanOutOf, hasRoom, isTaken, wideFilters } from '../deliver/wide.ts';
import type { AcceptOptions, AcceptOutcome } from '../model/accept-outcome.ts';
import { type Awaitable, type Flow, waitFor } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { DeliveryPayer } from '../model/quota-holder.ts';
import type { Delivery, MatchedFilter } from '../model/session.ts';
import type { StreamDeclaration } from '../model/stream-declaration.ts';
import type { WideFilter } from '../ports/index.ts';
import { append, liveReaders, streamOf } from '../streams/append.ts';
import { armConflated } from '../streams/conflated.ts';
import { feed } from '../streams/feed.ts';
import { placedMessage, unplacedMessage } from '../streams/position.ts';
import { hasAnswer, hasOutletRoom } from './outlet.ts';
import { retain } from './retain.ts';
import { underWay } from './under-way.ts';

/**
 * Finds the subscribers and delivers to them.
 *
 * @param matching the filters, if the store has been asked
 */
export function* forward(
  context: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
  isToBeRetained = false,
  matching?: Awaitable<readonly MatchedFilter[]>,
): Flow<AcceptOutcome> {
  if (!hasOutletRoom(context, tenant, message, options)) return 'outlet-refused';
  const stream = streamOf(context, message.topic);
  const { ordered } = options;
  // A stream that processes share is asked at once, and keeps the order. So do queues.
  const mayAsk =
    stream === undefined ? ordered?.mayOffer : ordered?.isNext || context.ports.streams?.isShared;
  const waits = ordered !== undefined && mayAsk !== true;
  if (waits) yield* ordered.untilNext();
  ordered?.stayBehind();
  const asking = waits ? undefined : matching;
  const matched = yield* waitFor(asking ?? context.ports.subscriptions.match(tenant, message.topic));
  // A retained message has been counted already. A removal has not, and its properties may be long.
  const isKept = message.retain && message.payload.length > 0;
  if (matched.length === 0 && stream === undefined) return unrouted(context, message);
  const unplaced = stream && unplacedMessage(message, stream);
  const isMatchedAgain = stream !== undefined && context.ports.streams?.isShared === true;
  const before = spentOn(context.ports);
  const deliveries = route(context, message, matched, unplaced, isMatchedAgain);
  const caused = deliveries.length + spentOn(context.ports) - before;
  if (!isKept && isMemoryFull(context, message, options) && deliveries.some(({ qos }) => qos > 0))
    return 'memory-full';
  const wide = wideFilters(tenant, matched);
  // The QoS of the subscribers of other processes is not known here.
  const isQueued = deliveries.some(({ qos }) => qos > 0) || (wide.length > 0 && message.qos > 0);
  if (!isKept && isQueued && areQueuesFull(context, tenant, message, options)) return 'tenant-queues-full';
  const { publisher } = options;
  const mayCause = publisher && context.ports.deliveryQuota?.take(publisher, caused, wide);
  const forwarding = { tenant, message, options, stream, deliveries, wide, isToBeRetained };
  return yield* forwardIfAllowed(context, forwarding, mayCause ?? true);
}

/**
 * Counts a message without subscribers. The server's own messages are not counted: often no client is there to read
 * them.
 */
export function unrouted({ ports: { drops } }: Context, { topic }: Message): 'no-matching-subscribers' {
  if (!topic.startsWith('$SYS/')) drops?.addUnrouted?.();
  return 'no-matching-subscribers';
}

function leavingNow(
  context: Context,
  tenant: string,
  message: Message,
  deliveries: readonly Delivery[],
  { isRepeat = false, publisher }: AcceptOptions,
): readonly Delivery[] {
  if (message.qos > 0) context.ports.outlet?.queued?.(tenant, message, publisher);
  return conflated(context, message, isRepeat ? repeated(deliveries) : deliveries);
}

/** @param mayCause the answer of the publisher's quota */
export function* forwardIfAllowed(
  context: Context,
  forwarding: Forwarding,
  mayCause: Awaitable<boolean>,
): Flow<AcceptOutcome> {
  if (!(yield* waitFor(mayCause))) return 'deliveries-exceeded';
  const { tenant, message, options, stream, deliveries, wide } = forwarding;
  if (stream !== undefined) return yield* appendAndDeliver(context, forwarding, stream);
  // Before any delivery: a publisher that is refused sends again, and subscribers should not get the message twice.
  const isAnswered = hasAnswer(message, options);
  if (wide.length > 0) {
    const payer = payerOf(context, options);
    if (!(yield* underWay(fanOut(context, message, wide, isAnswered, payer)))) return 'backlog-full';
  }
  const leaving = leavingNow(context, tenant, message, deliveries, options);
  yield* underWay(deliver(context, message, leaving, PASSES_MAX, options.ordered));
  // Also behind those before it where nobody here was sent it.
  if (options.ordered !== undefined) yield* options.ordered.untilNext();
  options.ordered?.handedOn();
  if (wide.length > 0 && !(yield* isTaken(context, message))) return 'outlet-refused-late';
  return deliveries.length + wide.length === 0 ? unrouted(context, message) : 'delivered';
}

/** The subscribers of a message that its stream has not placed yet. */
interface Recipients {
  readonly deliveries: readonly Delivery[];
  readonly wide: readonly WideFilter[];
}

/** A message with its subscribers, before it is delivered. */
interface Forwarding extends Recipients {
  readonly tenant: string;
  readonly message: Message;
  readonly options: AcceptOptions;
  readonly stream: StreamDeclaration | undefined;
  /** The message is retained when it has its place in the log, and before its subscribers are looked up. */
  readonly isToBeRetained: boolean;
}

/**
 * Appends the message to its stream, which alone may still refuse it. If one process serves all clients, it numbers
 * the message and sends it in one turn, so subscribers get messages in the order of their numbers. The publisher is
 * answered when the message is durable.
 */
function* appendAndDeliver(
  context: Context,
  before: Forwarding,
  stream: StreamDeclaration,
): Flow<AcceptOutcome> {
  const { tenant, message, options } = before;
  const { isWill = false } = options;
  if (!isWill && before.wide.length > 0 && !(yield* hasRoom(context, message, before.wide)))
    return 'backlog-full';
  const appended = yield* append(context, tenant, stream, message, options);
  if (appended === 'full') return 'memory-full';
  if (appended === 'contended') return 'stream-contended';
  if (appended === 'repeated') return 'delivered';
  if (options.ordered !== undefined) yield* options.ordered.untilNext();
  const placed = placedMessage(appended.entry);
  if (before.isToBeRetained) yield* underWay(retain(context, tenant, message, options));
  const { deliveries, wide } = yield* underWay(recipientsNow(context, stream, placed, before));
  if (wide.length > 0) fanOutOf(context).take(placed, wide, payerOf(context, options));
  // Readers first: the queues of other subscribers may wait for the disk while the next message comes.
  if (context.ports.streams?.feed !== undefined) yield* underWay(feed(context, tenant, appended.entry));
  else if (!appended.isFound)
    yield* underWay(deliver(context, placed, liveReaders(context, appended, deliveries)));
  const plain = deliveries.filter(({ readers }) => readers === undefined);
  yield* underWay(deliver(context, placed, leavingNow(context, tenant, placed, plain, options)));
  options.ordered?.handedOn();
  if (wide.length > 0) yield* isTaken(context, placed);
  if (appended.written === undefined) return 'delivered';
  options.ordered?.asked();
  yield* waitFor(appended.written);
  return 'delivered';
}

function payerOf({ ports }: Context, { publisher }: AcceptOptions): DeliveryPayer | undefined {
  return publisher && ports.deliveryQuota?.payerOf?.(publisher);
}

/**
 * If other processes subscribe meanwhile, the message goes to the subscribers that exist when it has its place:
 *
 *     publisher                          reader
 *     matches: no reader
 *                                        SUBSCRIBE is stored; the log ends with 4
 *     appends 5
 *     (were it sent to those that it has matched …)
 *                                        … 5 would neither be in what it reads, nor be sent to it
 */
function* recipientsNow(
  context: Context,
  stream: StreamDeclaration,
  message: Message,
  before: Forwarding,
): Flow<Recipients> {
  const { tenant } = before;
  const { streams, subscriptions } = context.ports;
  if (streams?.isShared !== true) return before;
  const matched = yield* waitFor(subscriptions.match(tenant, message.topic, true));
  yield* armConflated(context, tenant, matched);
  const deliveries = route(context, message, matched, unplacedMessage(before.message, stream));
  return { deliveries, wide: wideFilters(tenant, matched) };
}

/** A will is not refused here: its memory has been counted since CONNECT. */
export function isMemoryFull({ ports }: Context, message: Message, options: AcceptOptions): boolean {
  return ports.memory?.isFull === true && hasAnswer(message, options);
}

function areQueuesFull(
  { ports }: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
): boolean {
  return ports.memory?.isQueueFull(tenant) === true && hasAnswer(message, options);
}
