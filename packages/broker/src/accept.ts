import type { PublishProperties, QoS } from '@apus/mqtt';
import type { Context } from './context.ts';
import { parseDelayed } from './delayed.ts';
import { conflated, deliver, repeated } from './deliver.ts';
import { type Flow, waitFor } from './flow.ts';
import { delay, hasAnswer, hasOutletRoom, leaves } from './leaving.ts';
import type { Message, MessageId } from './message.ts';
import { owned, ownedProperties } from './owned.ts';
import { messageBytes } from './page.ts';
import type { PresenceRefusal, Publisher, RetainedLimits, WideFilter } from './ports/index.ts';
import { route } from './route.ts';
import type { Delivery } from './session.ts';
import { append, liveReaders, streamOf } from './streams/append.ts';
import { armConflated } from './streams/conflated.ts';
import type { StreamDeclaration } from './streams/declaration.ts';
import { feed } from './streams/feed.ts';
import { placedMessage } from './streams/position.ts';
import { underWay } from './under-way.ts';
import { fanOut, fanOutOf, hasRoom, wideFilters } from './wide.ts';

/** A PUBLISH, a will or a request from outside, before it is a message. */
export interface MessageDraft {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: QoS;
  readonly retain: boolean;
  readonly properties: PublishProperties;
  readonly publisherKey: string | undefined;
}

export type AcceptOutcome =
  | 'delivered'
  | 'no-matching-subscribers'
  /** As many messages are retained as may be. */
  | 'retained-quota-exceeded'
  /** The workers of a wide filter are so far behind that they are given no more. */
  | 'backlog-full'
  /** The publisher has caused as many deliveries as it may for now. */
  | 'deliveries-exceeded'
  /** The publisher has had as much written as it may for now. */
  | 'writes-exceeded'
  /** The message would have to be kept, and there is no memory for it now. */
  | 'memory-full'
  /** The queues of the tenant hold as much as they may. */
  | 'tenant-queues-full'
  /** Too many handlers publish to one topic of a stream: the message found no place in its log. */
  | 'stream-contended'
  /** A room, or one of the limits on rooms, has no place for the member. */
  | `presence-${PresenceRefusal}`
  /** As many messages wait to be published later as may. */
  | 'delays-full'
  /** The system that the message leaves for does not take it now. */
  | 'outlet-refused';

export interface AcceptOptions {
  /** The publisher that is charged for the deliveries. @default none */
  readonly publisher?: Publisher | undefined;
  /** The message was accepted before, perhaps by a process that died before it finished. @default false */
  readonly isRepeat?: boolean;
  /** The message is a will: no client waits for an answer. @default false */
  readonly isWill?: boolean;
}

/** The broker has refused the message: the sender may send it again. */
export function isRefused(outcome: AcceptOutcome): boolean {
  return outcome !== 'delivered' && outcome !== 'no-matching-subscribers';
}

export function createMessage(context: Context, draft: MessageDraft, id: MessageId): Message {
  const {
    messageExpiryInterval,
    topicAlias: _,
    subscriptionIdentifiers: __,
    ...properties
  } = draft.properties;
  return {
    id,
    topic: draft.topic,
    payload: owned(draft.payload),
    qos: draft.qos,
    retain: draft.retain,
    properties: ownedProperties(properties),
    expiresAtMs:
      messageExpiryInterval === undefined
        ? undefined
        : context.ports.clock.now() + messageExpiryInterval * 1000,
    publisherKey: draft.publisherKey,
  };
}

/**
 * Takes responsibility for a message: retains it where asked, then finds its subscribers and delivers to them. A port
 * that is unavailable before the first write leaves nothing of it behind; from there on the message is `UnderWay`.
 *
 * It retains before it matches, and a subscriber writes its subscription before it reads retained messages: in every
 * interleaving the subscriber sees the newest value.
 */
export function* accept(
  context: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions = {},
): Flow<AcceptOutcome> {
  const delayed = parseDelayed(message.topic);
  if (delayed !== undefined && context.ports.delays !== undefined)
    return yield* delay(
      context.ports.delays,
      tenant,
      { ...message, topic: delayed.topic },
      delayed.seconds,
      context,
      options,
    );
  if (context.ports.outlet !== undefined && !(yield* leaves(context, tenant, message, options)))
    return 'outlet-refused';
  if (!hasOutletRoom(context, tenant, message, options)) return 'outlet-refused';
  if (message.retain) {
    if (message.payload.length > 0 && isMemoryFull(context, message, options)) return 'memory-full';
    yield* flush(context, message.topic);
    return counted(context, message, yield* underWay(retainAndForward(context, tenant, message, options)));
  }
  return counted(context, message, yield* forward(context, tenant, message, options));
}

/** The server's own messages are for clients that may not be there. */
function counted({ ports: { drops } }: Context, { topic }: Message, outcome: AcceptOutcome): AcceptOutcome {
  if (outcome === 'no-matching-subscribers' && !topic.startsWith('$SYS/')) drops?.addUnrouted?.();
  return outcome;
}

/**
 * Sends the messages of the topic that the event has gathered before a newer message of the topic is retained:
 *
 *     publisher's frame: 1, 2            subscriber
 *     retains 1, matches it
 *     retains 2
 *                                        reads 2, retained
 *     (were 1 to leave only now …)
 *                                        … 1 would come behind 2
 */
function* flush({ ports: { outbox } }: Context, topic: string): Flow<void> {
  if (outbox !== undefined) yield* waitFor(outbox.flush(topic));
}

function* retainAndForward(
  context: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
): Flow<AcceptOutcome> {
  const { retained, streams } = context.ports;
  const stream = streamOf(context, message.topic);
  // Where others publish to the topic, its stream may refuse the message when it has been decided upon: it has its place
  // first. Elsewhere all that a stream may lack is room for one more topic.
  const isPlacedFirst = stream !== undefined && streams?.isShared === true && retained.hasRoom !== undefined;
  const refusal =
    (yield* refusalToWrite(context, message, options)) ??
    (isPlacedFirst
      ? yield* refusalToRetain(context, tenant, message, options)
      : ((yield* refusalToOpen(context, tenant, stream, message, options)) ??
        (yield* retain(context, tenant, message, options))));
  if (refusal !== undefined && hasAnswer(message, options)) return refusal;
  return yield* forward(context, tenant, message, options, isPlacedFirst && refusal === undefined);
}

function* refusalToOpen(
  { ports: { streams, clock } }: Context,
  tenant: string,
  stream: StreamDeclaration | undefined,
  message: Message,
  options: AcceptOptions,
): Flow<'memory-full' | undefined> {
  if (stream === undefined || streams === undefined || !hasAnswer(message, options)) return undefined;
  const tail = yield* waitFor(streams.store.tail(tenant, stream, message.topic, clock.now()));
  return typeof tail === 'string' ? 'memory-full' : undefined;
}

/** Bytes of a stored retained message that count as one write. */
const WRITE_BYTES = 1024;

function* refusalToWrite(
  { ports: { writeQuota } }: Context,
  message: Message,
  { publisher }: AcceptOptions,
): Flow<'writes-exceeded' | undefined> {
  if (writeQuota === undefined || publisher === undefined) return undefined;
  const writes = Math.max(1, Math.ceil(messageBytes(message) / WRITE_BYTES));
  return (yield* waitFor(writeQuota.take(publisher, writes))) ? undefined : 'writes-exceeded';
}

function* forward(
  context: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
  isToBeRetained = false,
): Flow<AcceptOutcome> {
  const { publisher, isRepeat = false } = options;
  if (!hasOutletRoom(context, tenant, message, options)) return 'outlet-refused';
  const stream = streamOf(context, message.topic);
  // A retained message has its place already. A removal has none, and may be as long as any message.
  const isKept = message.retain && message.payload.length > 0;
  const matching = context.ports.subscriptions.match(tenant, message.topic);
  const matched = matching instanceof Promise ? yield* waitFor(matching) : matching;
  if (matched.length === 0 && stream === undefined) return 'no-matching-subscribers';
  const deliveries = route(context, message, matched);
  if (!isKept && isMemoryFull(context, message, options) && deliveries.some(({ qos }) => qos > 0))
    return 'memory-full';
  const wide = wideFilters(tenant, matched);
  // The QoS of subscribers of other processes is not known here.
  const isQueued = deliveries.some(({ qos }) => qos > 0) || (wide.length > 0 && message.qos > 0);
  if (!isKept && isQueued && areQueuesFull(context, tenant, message, options)) return 'tenant-queues-full';
  if (!(yield* mayCause(context, publisher, deliveries.length, wide))) return 'deliveries-exceeded';
  if (stream !== undefined)
    return yield* appendAndDeliver(
      context,
      tenant,
      stream,
      message,
      { deliveries, wide, isToBeRetained },
      options,
    );
  // Before any delivery: a refused publisher sends again, and subscribers should not get the message twice.
  if (wide.length > 0 && !(yield* underWay(fanOut(context, message, wide)))) return 'backlog-full';
  const leaving = isRepeat ? repeated(deliveries) : deliveries;
  yield* underWay(deliver(context, message, conflated(context, message, leaving)));
  if (wide.length > 0) yield* underWay(waitFor(fanOutOf(context).settled?.(message)));
  return deliveries.length + wide.length === 0 ? 'no-matching-subscribers' : 'delivered';
}

/** The subscribers of a message that its stream has not placed yet. */
interface Recipients {
  readonly deliveries: readonly Delivery[];
  readonly wide: readonly WideFilter[];
}

interface Placing extends Recipients {
  /** When it has its place, and before its subscribers are looked up. */
  readonly isToBeRetained: boolean;
}

/**
 * Nothing may refuse the message any more but its stream. Where one process serves all, it is numbered and sent to its
 * subscribers in one turn, so that they get it in the order of its number; its publisher is answered when it is durable.
 */
function* appendAndDeliver(
  context: Context,
  tenant: string,
  stream: StreamDeclaration,
  message: Message,
  before: Placing,
  options: AcceptOptions,
): Flow<AcceptOutcome> {
  const { isRepeat = false, isWill = false } = options;
  if (!isWill && before.wide.length > 0 && !(yield* hasRoom(context, message, before.wide)))
    return 'backlog-full';
  const appended = yield* append(context, tenant, stream, message, isWill);
  if (appended === 'full') return 'memory-full';
  if (appended === 'contended') return 'stream-contended';
  const placed = placedMessage(appended.entry);
  if (before.isToBeRetained) yield* underWay(retain(context, tenant, message, options));
  const { deliveries, wide } = yield* underWay(recipientsNow(context, tenant, placed, before));
  if (wide.length > 0) fanOutOf(context).take(placed, wide);
  // Readers first: the queues of others may wait for the disk, and meanwhile the next message comes.
  if (context.ports.streams?.feed !== undefined) yield* underWay(feed(context, tenant, appended.entry));
  else if (!appended.isFound)
    yield* underWay(deliver(context, placed, liveReaders(context, appended, deliveries)));
  const plain = deliveries.filter(({ readers }) => readers === undefined);
  const leaving = isRepeat ? repeated(plain) : plain;
  yield* underWay(deliver(context, placed, conflated(context, placed, leaving)));
  if (wide.length > 0) yield* underWay(waitFor(fanOutOf(context).settled?.(placed)));
  if (appended.written !== undefined) yield* waitFor(appended.written);
  return 'delivered';
}

/**
 * Where other processes subscribe meanwhile, the subscribers of a message are those that are there when it has its place:
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
  tenant: string,
  message: Message,
  before: Recipients,
): Flow<Recipients> {
  const { streams, subscriptions } = context.ports;
  if (streams?.isShared !== true) return before;
  const matched = yield* waitFor(subscriptions.match(tenant, message.topic, true));
  yield* armConflated(context, tenant, matched);
  return { deliveries: route(context, message, matched), wide: wideFilters(tenant, matched) };
}

/** A will has been counted since its CONNECT. */
function isMemoryFull({ ports }: Context, message: Message, options: AcceptOptions): boolean {
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

function* mayCause(
  { ports: { deliveryQuota } }: Context,
  publisher: Publisher | undefined,
  deliveries: number,
  wide: readonly WideFilter[],
): Flow<boolean> {
  if (deliveryQuota === undefined || publisher === undefined) return true;
  return yield* waitFor(deliveryQuota.take(publisher, deliveries, wide));
}

/** Replaces the retained message of the topic [MQTT-3.3.1-5]; an empty payload removes it [MQTT-3.3.1-6] [MQTT-3.3.1-7]. */
function* retain(
  context: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
): Flow<'retained-quota-exceeded' | undefined> {
  const { retained } = context.ports;
  if (message.payload.length === 0) {
    yield* waitFor(retained.delete(tenant, message.topic, message.id));
    return undefined;
  }
  const limits = retainedLimits(context, options);
  const isStored = yield* waitFor(retained.put(tenant, message, limits));
  return isStored ? undefined : overRetainedQuota(context, tenant, message, limits);
}

function* refusalToRetain(
  context: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
): Flow<'retained-quota-exceeded' | undefined> {
  const { retained } = context.ports;
  if (message.payload.length === 0 || retained.hasRoom === undefined) return undefined;
  const limits = retainedLimits(context, options);
  const hasPlace = yield* waitFor(retained.hasRoom(tenant, message, limits));
  return hasPlace ? undefined : overRetainedQuota(context, tenant, message, limits);
}

function retainedLimits({ ports, limits }: Context, { publisher }: AcceptOptions): RetainedLimits {
  const plan = publisher?.identity.plan;
  const messagesMax = planned(plan?.retainedMessagesMax, limits.retainedMessagesMax);
  const bytesMax = planned(plan?.retainedBytesMax, limits.retainedBytesMax);
  return { messagesMax, bytesMax, holder: publisher && ports.holdingQuota?.retainedHolder(publisher) };
}

/** A plan's 0 stands for any number. */
function planned(ofPlan: number | undefined, limit: number): number {
  return ofPlan === undefined ? limit : ofPlan || Number.POSITIVE_INFINITY;
}

function overRetainedQuota(
  { ports: { log } }: Context,
  tenant: string,
  { topic }: Message,
  { holder }: RetainedLimits,
): 'retained-quota-exceeded' {
  log.warn('retained-quota-exceeded', { tenant, name: holder?.holder.name, topic });
  return 'retained-quota-exceeded';
}
