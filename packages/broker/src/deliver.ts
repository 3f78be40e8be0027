import type { Context } from './context.ts';
import { logDropped, tellDropped } from './drops.ts';
import { type Flow, finish, type Rest, run, waitFor } from './flow.ts';
import { namesOfSession } from './link.ts';
import { isExpired, type Message } from './message.ts';
import type { Appended, FailedPush, Offer, Offered, QueueLimits, Routed } from './ports/index.ts';
import { type Attachment, type Delivery, deliveryOf, KEPT_PACKET_ID_MAX } from './session.ts';

/** How many members of a share group are tried for one copy, if the session of each has ended when the copy comes. */
const PASSES_MAX = 8;

/**
 * Sends a message to its recipients, or stores it in their queues. Then the message is durable and its publisher may
 * be answered: sent at QoS 0, sent or stored at QoS 1 and 2. A door with an outbox only gathers the message here;
 * `deliverAll` does the rest.
 */
export function deliver(
  context: Context,
  message: Message,
  deliveries: readonly Delivery[],
  passes = PASSES_MAX,
): Rest {
  const { outbox, queues } = context.ports;
  if (outbox !== undefined) {
    outbox.add({ message, deliveries, passes });
    return undefined;
  }
  const sorted = sort(context, { message, deliveries, passes });
  if (sorted === undefined) return undefined;
  const { queued, held } = sorted;
  if (queued.length === 0) return sendAndPassOn(context, sorted, 0);
  const offering = queues.offer(message, queued, queueLimits(context), held);
  return offering instanceof Promise
    ? deliverOffered(context, sorted, offering)
    : sendAndPassOn(context, sorted, offering);
}

function* deliverOffered(context: Context, sorted: SortedDeliveries, offering: Promise<number>): Flow<void> {
  yield* finish(sendAndPassOn(context, sorted, yield* waitFor(offering)));
}

function sendAndPassOn(context: Context, sorted: SortedDeliveries, dropped: number): Rest {
  if (dropped > 0) tellQueueFull(context, sorted);
  const sending = send(context, sorted);
  const isPassedOn = sorted.queued.some(({ passOnAs }) => passOnAs !== undefined);
  return isPassedOn ? sendThenPassOn(context, sorted, sending) : sending;
}

function* sendThenPassOn(context: Context, sorted: SortedDeliveries, sending: Rest): Flow<void> {
  yield* finish(sending);
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
    const sending = Promise.resolve(run(finish(deliver(context, held, [delivery]))));
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

/** The messages of an outbox after the first step: those that may be sent have been given to the connections. */
export interface Sent extends Pick<Offered, 'uncertain' | 'waiting'> {
  readonly sorted: readonly SortedDeliveries[];
  readonly offered: Offered | undefined;
}

/** Connections that the door has to close, and clients that it has to tell to fetch. */
export type Stored = Pick<Appended, 'uncertain' | 'unannounced'>;

const NONE: readonly never[] = [];

/**
 * The first step: gives the messages that may be sent to the connections, in their order. The others are not in the
 * queues yet.
 */
export function* deliverAll(context: Context, routed: readonly Routed[]): Flow<Sent> {
  const sorted = routed.flatMap((each) => sort(context, each) ?? []);
  const offers = sorted.flatMap(({ message, queued, held }) =>
    queued.length === 0 ? [] : { message, deliveries: queued, hold: held },
  );
  let offered: Offered | undefined;
  try {
    if (offers.length > 0) offered = yield* offerAll(context, offers);
  } finally {
    // Also when the store has failed: a message that has a place in a window is sent, and QoS 0 needs no place.
    for (const each of sorted) yield* finish(send(context, each));
  }
  return { sorted, offered, uncertain: offered?.uncertain ?? NONE, waiting: offered?.waiting ?? NONE };
}

/** The second step, when the messages given to the connections have left: stores the others in the queues. */
export function* append(context: Context, { sorted, offered }: Sent): Flow<Stored> {
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

function send(context: Context, { message, direct, queued }: SortedDeliveries): Rest {
  // Nothing reads `direct` after this, so it takes the others too: a fan-out makes no second list.
  const sendable = direct;
  for (const delivery of queued) if (delivery.packetId !== 0) sendable.push(delivery);
  if (sendable.length === 0) return undefined;
  const sending = context.ports.connections.publish(message, sendable);
  if (sending instanceof Promise) return sent(context, message, sending);
  return sending && handleFailures(context, message, sending);
}

function* sent(
  context: Context,
  message: Message,
  sending: Promise<readonly FailedPush[] | undefined>,
): Flow<void> {
  const failures = yield* waitFor(sending);
  if (failures !== undefined) yield* handleFailures(context, message, failures);
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
  if (share === undefined || passes === 0) return;
  const { subscriptions, connections, fanOut } = context.ports;
  const members = yield* waitFor(subscriptions.members(from.tenant, share));
  const subscribers = members.filter(({ session }) => session.incarnation !== from.incarnation);
  const member = context.shareRotation.choose({ ...share, subscribers }, connections, true);
  if (member !== undefined)
    yield* finish(deliver(context, message, [deliveryOf(message, member, copy)], passes));
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
type DroppedFor = 'slow-consumer' | 'identity-expired' | 'banned';

/** Undefined: no recipient is left. */
function sort(context: Context, { message, deliveries, passes }: Routed): SortedDeliveries | undefined {
  const nowMs = context.ports.clock.now();
  if (deliveries.length === 0 || isExpired(message, nowMs)) return undefined;
  const sorted: SortedDeliveries = { message, passes, direct: [], queued: [], held: undefined };
  let dropped: Map<DroppedFor, number> | undefined;
  for (const delivery of deliveries) {
    const why = place(context, sorted, delivery, nowMs);
    if (why === undefined) continue;
    dropped ??= new Map();
    dropped.set(why, (dropped.get(why) ?? 0) + 1);
    if (why !== 'banned') context.ports.drops?.add(delivery.session, why, 1);
  }
  if (dropped !== undefined) for (const [why, count] of dropped) logDropped(context, message, count, why);
  return sorted;
}

/**
 * Adds a delivery to those that are sent or offered to the queues. Returns why, if it is dropped: no queue keeps it,
 * and its connection is slow, or may not be sent anything any more.
 */
function place(
  { ports: { connections, bans } }: Context,
  sorted: SortedDeliveries,
  delivery: Delivery,
  nowMs: number,
): DroppedFor | undefined {
  const attachment: Attachment | undefined = delivery.session.attachment;
  // [SEC-EXPIRY-2]
  const hasExpired = attachment?.expiresAtMs !== undefined && attachment.expiresAtMs <= nowMs;
  // [SEC-BAN-2]
  const isBanned = bans?.keepsOut?.(delivery.session) === true;
  const isOver = hasExpired || isBanned;
  const isKept = delivery.qos > 0 && !isUnkept(delivery);
  if (isOver && !isKept) return isBanned ? 'banned' : 'identity-expired';
  const isReady = attachment === undefined || (!isOver && connections.isReady(attachment.connectionId));
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
 * A message too large for a client counts as completely sent [MQTT-3.1.2-25]. A message whose connection is gone stays
 * inflight: its session sends it again, or ends.
 */
export function* handleFailures(
  context: Context,
  message: Message,
  failures: readonly FailedPush[],
): Flow<void> {
  for (const { delivery, failure } of failures) {
    context.ports.log.info('delivery-failed', {
      failure,
      ...namesOfSession(delivery.session),
      topic: message.topic,
      messageId: message.id,
    });
    if (failure === 'gone') continue;
    context.ports.drops?.add(delivery.session, failure === 'slow' ? 'slow-consumer' : failure, 1);
    if (failure === 'too-large' && delivery.packetId !== 0) {
      yield* waitFor(context.ports.queues.complete(delivery.session, delivery.packetId));
    }
    yield* tellDropped(context, delivery.session, false);
  }
}
