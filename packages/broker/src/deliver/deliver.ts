import type { Context } from '../context.ts';
import { type Awaitable, type Flow, run, waitFor } from '../model/flow.ts';
import { isExpired, type Message } from '../model/message.ts';
import type { OrderedPublish } from '../model/publish-order.ts';
import { type Attachment, type Delivery, deliveryOf, KEPT_PACKET_ID_MAX } from '../model/session.ts';
import type {
  Appended,
  Connections,
  FailedPush,
  Offer,
  Offered,
  QueueLimits,
  Routed,
} from '../ports/index.ts';
import { fits } from './condition.ts';
import { logDropped, tellDropped } from './drops.ts';

/** How many members of a share group are tried for one copy, if the session of each has ended when the copy comes. */
export const PASSES_MAX = 8;

/**
 * Sends a message to its recipients, or stores it in their queues. Then the message is durable and its publisher may
 * be answered: sent at QoS 0, sent or stored at QoS 1 and 2. A door with an outbox only gathers the message here;
 * `deliverAll` does the rest.
 */
export function* deliver(
  context: Context,
  message: Message,
  deliveries: readonly Delivery[],
  passes = PASSES_MAX,
  ordered?: OrderedPublish,
): Flow<void> {
  const { outbox } = context.ports;
  if (outbox !== undefined) return outbox.add({ message, deliveries, passes });
  const sorted = sort(context, { message, deliveries, passes });
  if (sorted !== undefined) yield* deliverOffered(context, sorted, offer(context, sorted), ordered);
}

/** Offers a message to the queues. Returns how many messages these have dropped for it. */
export function offer(context: Context, { message, queued, held }: SortedDeliveries): Awaitable<number> {
  return queued.length === 0 ? 0 : context.ports.queues.offer(message, queued, queueLimits(context), held);
}

/** Sends a message that the queues have been offered: behind those of its publisher that came before it. */
export function* deliverOffered(
  context: Context,
  sorted: SortedDeliveries,
  offering: Awaitable<number>,
  ordered?: OrderedPublish,
): Flow<void> {
  ordered?.offered();
  if ((yield* waitFor(offering)) > 0) tellQueueFull(context, sorted);
  if (ordered?.isNext === false) yield* ordered.untilNext();
  yield* sent(context, sorted.message, send(context, sorted));
  yield* passOnAll(context, sorted);
}

/** The deliveries that leave now. The others are held until the end of their interval. */
export function conflated(
  context: Context,
  message: Message,
  deliveries: readonly Delivery[],
): readonly Delivery[] {
  const { conflation, log } = context.ports;
  if (conflation === undefined) return deliveries;
  return conflation.take(message, deliveries, (held, delivery) => {
    const sending = Promise.resolve(run(deliver(context, held, [delivery])));
    sending.catch((error: unknown) =>
      log.error('conflated-not-sent', { topic: held.topic, error: String(error) }),
    );
  });
}

/**
 * Runs a step that marks messages as delivered when they have been: at once, or when the outbox has been committed.
 *
 *     handler A                          client, handler B
 *     receives QoS 2: pending
 *     matches; the outbox has the message
 *     (were it marked as delivered here …)
 *     dies
 *                                        sends it again: … B would only answer, and the message would be lost
 *                                        pending, the same message id: B hands it on
 */
export function* whenDelivered({ ports: { outbox } }: Context, does: () => Flow<void>): Flow<void> {
  if (outbox === undefined) yield* does();
  else outbox.whenLeft(() => run(does()));
}

/** Runs a step that looks for changes of others: when messages have been delivered, and before they are marked so. */
export function* lookWhenDelivered({ ports: { outbox } }: Context, looks: () => Flow<void>): Flow<void> {
  if (outbox === undefined) yield* looks();
  else outbox.look(() => run(looks()));
}

/** The messages of an outbox after the first step: those that may be sent have been given to the connections. */
export interface SendResult extends Pick<Offered, 'uncertain' | 'waiting'> {
  readonly sorted: readonly SortedDeliveries[];
  readonly offered: Offered | undefined;
}

/** Connections that the door has to close, and clients that it has to tell to fetch. */
export type StoreResult = Pick<Appended, 'uncertain' | 'unannounced'>;

const NONE: readonly never[] = [];

/**
 * The first step: gives the messages that may be sent to the connections, in their order. The others are not in the
 * queues yet.
 */
export function* deliverAll(context: Context, routed: readonly Routed[]): Flow<SendResult> {
  const sorted = routed.flatMap((each) => sort(context, each) ?? []);
  const offers = sorted.flatMap(({ message, queued, held }) =>
    queued.length === 0 ? [] : { message, deliveries: queued, hold: held },
  );
  let offered: Offered | undefined;
  try {
    if (offers.length > 0) offered = yield* offerAll(context, offers);
  } finally {
    // Also when the store has failed: a message that has a place in a window is sent, and QoS 0 needs no place.
    for (const each of sorted) yield* sent(context, each.message, send(context, each));
  }
  return { sorted, offered, uncertain: offered?.uncertain ?? NONE, waiting: offered?.waiting ?? NONE };
}

/** The second step, when the messages given to the connections have left: stores the others in the queues. */
export function* append(context: Context, { sorted, offered }: SendResult): Flow<StoreResult> {
  const appended = offered && (yield* waitFor(offered.append()));
  for (const each of sorted) {
    if (appended !== undefined && appended.dropped > 0) tellQueueFull(context, each);
    yield* passOnAll(context, each);
  }
  return appended ?? { uncertain: NONE, unannounced: NONE };
}

function* offerAll(context: Context, offers: readonly Offer[]): Flow<Offered> {
  const { queues } = context.ports;
  if (queues.offerAll === undefined) throw new Error('the door has an outbox, and the queues cannot fill it');
  return yield* waitFor(queues.offerAll(offers, queueLimits(context)));
}

/** Gives the connections the deliveries that may leave. */
export function send(
  context: Context,
  { message, direct, queued }: SortedDeliveries,
): Awaitable<readonly FailedPush[] | undefined> {
  // Nothing reads `direct` after this, so it takes the others too: a fan-out makes no second list.
  const sendable = direct;
  for (const delivery of queued) if (delivery.packetId !== 0) sendable.push(delivery);
  return sendable.length === 0 ? undefined : context.ports.connections.publish(message, sendable);
}

function* passOnAll(context: Context, { message, queued, passes }: SortedDeliveries): Flow<void> {
  for (const delivery of queued) {
    const { passOnAs } = delivery;
    if (passOnAs !== undefined) yield* passOn(context, message, delivery, passOnAs, passes - 1);
  }
}

/**
 * Passes the copy of a shared subscription whose session has ended to another member (section 4.8.2), under the given
 * name. The copy is lost if `PASSES_MAX` chosen members end in turn.
 */
export function* passOn(
  context: Context,
  message: Message,
  { session: from, share }: Delivery,
  copy: string,
  passes = PASSES_MAX,
): Flow<void> {
  if (share === undefined) return;
  if (passes === 0) return logDropped(context, message, 1, 'no-member');
  const { subscriptions, connections, fanOut } = context.ports;
  const members = yield* waitFor(subscriptions.members(from.tenant, share));
  const subscribers = members.filter(
    ({ session, subscription }) =>
      session.incarnation !== from.incarnation && fits(context.ports, subscription, message),
  );
  const member = context.shareRotation.choose({ ...share, subscribers }, connections, true);
  if (member !== undefined) yield* deliver(context, message, [deliveryOf(message, member, copy)], passes);
  else yield* waitFor(fanOut?.passOn?.(from.tenant, message, share));
}

/**
 * The deliveries of a repeated fan-out, of which some recipients may have the message. QoS 0 is not sent again. QoS 1
 * comes under its old packet id with DUP, and a queue recognizes the message by its id. A reader of a stream gets it
 * twice rather than not at all.
 */
export function repeated(deliveries: readonly Delivery[]): readonly Delivery[] {
  const kept = deliveries.filter(({ qos, mustArrive }) => qos > 0 || mustArrive === true);
  for (const delivery of kept) delivery.dup = delivery.qos > 0;
  return kept;
}

/** A message with its deliveries by the way that each goes. */
export interface SortedDeliveries {
  readonly message: Message;
  readonly passes: number;
  /** QoS 0 to connections that are ready, and QoS 1 to connections that keep nothing. */
  readonly direct: Delivery[];
  /** QoS 1 and 2, for the queues. */
  readonly queued: Delivery[];
  /** The deliveries in `queued` whose connections are not ready. */
  held: Set<Delivery> | undefined;
}

/** Why a delivery is dropped at once. */
type DroppedFor = 'slow-consumer' | 'identity-expired' | 'not-authorized' | 'banned';

/** Undefined: no recipient is left. */
export function sort(
  context: Context,
  { message, deliveries, passes }: Routed,
): SortedDeliveries | undefined {
  const { clock, connections, drops } = context.ports;
  const nowMs = clock.now();
  if (deliveries.length === 0 || isExpired(message, nowMs)) return undefined;
  const sorted: SortedDeliveries = { message, passes, direct: [], queued: [], held: undefined };
  const isOver = lookForEnds(context, message.topic);
  let dropped: Map<DroppedFor, number> | undefined;
  for (const delivery of deliveries) {
    // [SEC-EXPIRY-2]
    const hasExpired = (delivery.session.attachment?.expiresAtMs ?? Number.POSITIVE_INFINITY) <= nowMs;
    const why = place(
      connections,
      sorted,
      delivery,
      isOver?.(delivery) ?? (hasExpired ? 'identity-expired' : undefined),
    );
    if (why === undefined) continue;
    dropped ??= new Map();
    dropped.set(why, (dropped.get(why) ?? 0) + 1);
    if (why !== 'banned') drops?.add(delivery.session, why, 1);
  }
  if (dropped !== undefined) for (const [why, count] of dropped) logDropped(context, message, count, why);
  return sorted;
}

/** Tells of a delivery whether its session may have the message no more. Undefined, as nearly always: all may. */
function lookForEnds(
  { ports: { bans, changedRights } }: Context,
  topic: string,
): ((delivery: Delivery) => DroppedFor | undefined) | undefined {
  const keepsOut = bans?.keepsOut;
  const forbids = changedRights?.forbids;
  if (keepsOut === undefined && forbids === undefined) return undefined;
  return (delivery) => {
    // [SEC-BAN-2]
    if (keepsOut?.(delivery.session) === true) return 'banned';
    // [SEC-RULES-6]
    return forbids?.(delivery, topic) === true ? 'not-authorized' : undefined;
  };
}

/**
 * Adds a delivery to those that are sent or offered to the queues. Returns why, if it is dropped: no queue keeps it,
 * and its connection is slow, or may not be sent anything any more (`over`).
 */
function place(
  connections: Connections,
  sorted: SortedDeliveries,
  delivery: Delivery,
  over: DroppedFor | undefined,
): DroppedFor | undefined {
  const attachment: Attachment | undefined = delivery.session.attachment;
  const isKept = delivery.qos > 0 && !isUnkept(delivery);
  if (over !== undefined && !isKept) return over;
  const isReady =
    attachment === undefined || (over === undefined && connections.isReady(attachment.connectionId));
  if (isKept) {
    sorted.queued.push(delivery);
    const isBehindPage = isReady && attachment && connections.isPageUnderWay?.(attachment.connectionId);
    if (!isReady || isBehindPage) {
      sorted.held ??= new Set();
      sorted.held.add(delivery);
    }
  } else if (delivery.qos > 0) {
    delivery.packetId = unkeptPacketId(sorted.message);
    sorted.direct.push(delivery);
  } else if (!isReady) return 'slow-consumer';
  else if (attachment !== undefined) sorted.direct.push(delivery);
  return undefined;
}

/** Whether the connection keeps nothing: then it is sent a message at QoS 1 once, and the broker awaits no PUBACK. */
export function isUnkept({ qos, share, session }: Delivery): boolean {
  return qos === 1 && share === undefined && session.attachment?.keepsNothing === true;
}

/**
 * The packet id of a message that no store keeps: a hash of the message id, in the upper half of the range, which no
 * queue uses. Two messages may share one; this does no harm, as they are not acknowledged.
 */
export function unkeptPacketId({ id }: Message): number {
  let hash = 0;
  for (let index = 0; index < id.length; index += 1) hash = (Math.imul(hash, 31) + id.charCodeAt(index)) | 0;
  return KEPT_PACKET_ID_MAX + 1 + (hash & KEPT_PACKET_ID_MAX);
}

export function queueLimits({ limits }: Context): QueueLimits {
  return {
    queueLengthMax: limits.queueLengthMax,
    queueBytesMax: limits.queueBytesMax,
    whenFull: limits.queueWhenFull,
  };
}

function tellQueueFull(context: Context, { message, queued }: SortedDeliveries): void {
  let dropped = 0;
  for (const { session, dropped: gaveWay = 0 } of queued) {
    if (gaveWay > 0) context.ports.drops?.add(session, 'queue-full', gaveWay);
    dropped += gaveWay;
  }
  if (dropped > 0) logDropped(context, message, dropped, 'queue-full');
}

/**
 * Looks at what was not sent. A message too large for a client counts as completely sent [MQTT-3.1.2-25]. A message
 * whose connection is gone stays inflight: its session sends it again, or ends.
 */
export function* sent(
  context: Context,
  message: Message,
  sending: Awaitable<readonly FailedPush[] | undefined>,
): Flow<void> {
  for (const { delivery, failure } of (yield* waitFor(sending)) ?? NONE) {
    // A client without a connection has no QoS 0 message to miss; its queue keeps the others.
    if (failure === 'gone') continue;
    const why = failure === 'slow' ? 'slow-consumer' : failure;
    logDropped(context, message, 1, why);
    context.ports.drops?.add(delivery.session, why, 1);
    if (failure === 'too-large' && delivery.packetId !== 0) {
      yield* waitFor(context.ports.queues.complete(delivery.session, delivery.packetId));
    }
    yield* tellDropped(context, delivery.session, false);
  }
}
