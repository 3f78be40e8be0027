import type { Context } from './context.ts';
import { logDropped, tellDropped } from './drops.ts';
import { type Flow, waitFor } from './flow.ts';
import { isExpired, type Message } from './message.ts';
import type { FailedPush } from './ports/index.ts';
import { type Attachment, type Delivery, deliveryOf, KEPT_PACKET_ID_MAX } from './session.ts';

/** How often one copy of a shared subscription is passed on to another member, each of which has ended meanwhile. */
const PASSES_MAX = 8;

/**
 * Sends a message to its recipients, or leaves it in their queues. When this is done the message is durable: sent at
 * QoS 0, sent or stored at QoS 1 and 2, so that its publisher may be answered.
 */
export function* deliver(
  context: Context,
  message: Message,
  deliveries: readonly Delivery[],
  passes = PASSES_MAX,
): Flow<void> {
  const nowMs = context.ports.clock.now();
  if (deliveries.length === 0 || isExpired(message, nowMs)) return;
  const { connections } = context.ports;
  const sorted = sort(context, message, deliveries, nowMs);
  if (sorted.dropped > 0) logDropped(context, message, sorted.dropped, 'slow-consumer');
  if (sorted.expired > 0) logDropped(context, message, sorted.expired, 'identity-expired');
  if (sorted.banned > 0) logDropped(context, message, sorted.banned, 'banned');
  if (sorted.queued.length > 0) yield* offer(context, message, sorted);
  const sendable = sorted.direct;
  for (const delivery of sorted.queued) if (delivery.packetId !== 0) sendable.push(delivery);
  if (sendable.length > 0) {
    const failures = yield* waitFor(connections.publish(message, sendable));
    if (failures !== undefined) yield* settleFailures(context, message, failures);
  }
  for (const delivery of sorted.queued) {
    const { passOnAs } = delivery;
    if (passOnAs !== undefined) yield* passOn(context, message, delivery, passOnAs, passes - 1);
  }
}

/**
 * A copy of a shared subscription whose session is over goes to another member (section 4.8.2), under the name that it is
 * to have there. It is lost with a group of which so many members end while they are being chosen.
 */
export function* passOn(
  context: Context,
  message: Message,
  { session: from, share }: Delivery,
  copy: string,
  passes = PASSES_MAX,
): Flow<void> {
  if (share === undefined || passes === 0) return;
  const { subscriptions, connections } = context.ports;
  const members = yield* waitFor(subscriptions.members(from.tenant, share));
  const subscribers = members.filter(({ session }) => session.incarnation !== from.incarnation);
  const member = context.shareRotation.choose({ ...share, subscribers }, connections, true);
  if (member !== undefined) yield* deliver(context, message, [deliveryOf(message, member, copy)], passes);
}

/**
 * Deliveries of a message that some of the recipients may have: at QoS 0 it is not sent again, at QoS 1 it comes under
 * its old packet id with DUP, and a queue knows the message by its id.
 */
export function repeated(deliveries: readonly Delivery[]): readonly Delivery[] {
  const kept = deliveries.filter(({ qos }) => qos > 0);
  for (const delivery of kept) delivery.dup = true;
  return kept;
}

interface SortedDeliveries {
  /** QoS 0 to connections that take it, and QoS 1 to those that keep nothing. */
  readonly direct: Delivery[];
  /** QoS 1 and 2. */
  readonly queued: Delivery[];
  /** Those of `queued` whose connections do not take more now. */
  readonly held: Set<Delivery> | undefined;
  /** QoS 0 to connections that do not read. */
  readonly dropped: number;
  /** To connections whose identity has expired, which have no queue for it. */
  readonly expired: number;
  /** The same to connections of clients that are banned. */
  readonly banned: number;
}

function sort(
  context: Context,
  message: Message,
  deliveries: readonly Delivery[],
  nowMs: number,
): SortedDeliveries {
  const { connections, bans, drops } = context.ports;
  const keepsOut = bans?.keepsOut;
  const direct: Delivery[] = [];
  const queued: Delivery[] = [];
  let held: Set<Delivery> | undefined;
  let dropped = 0;
  let expired = 0;
  let banned = 0;
  for (const delivery of deliveries) {
    const attachment: Attachment | undefined = delivery.session.attachment;
    // [SEC-EXPIRY-2]
    const hasExpired = attachment?.expiresAtMs !== undefined && attachment.expiresAtMs <= nowMs;
    // [SEC-BAN-2]
    const isBanned = keepsOut?.(delivery.session) === true;
    const isOver = hasExpired || isBanned;
    const isReady = attachment === undefined || (!isOver && connections.isReady(attachment.connectionId));
    if (isOver && (delivery.qos === 0 || isUnkept(message, delivery))) {
      if (isBanned) banned += 1;
      else {
        expired += 1;
        drops?.add(delivery.session, 'identity-expired', 1);
      }
    } else if (isUnkept(message, delivery)) direct.push(delivery);
    else if (delivery.qos > 0) {
      queued.push(delivery);
      if (!isReady) {
        held ??= new Set();
        held.add(delivery);
      }
    } else if (!isReady) {
      dropped += 1;
      drops?.add(delivery.session, 'slow-consumer', 1);
    } else if (attachment !== undefined) direct.push(delivery);
  }
  return { direct, queued, held, dropped, expired, banned };
}

/**
 * At QoS 1 to a connection that keeps nothing: it is sent once, under a packet id that this gives it, and nobody waits for
 * its PUBACK.
 */
export function isUnkept(message: Message, delivery: Delivery): boolean {
  const { qos, share, session } = delivery;
  if (qos !== 1 || share !== undefined || session.attachment?.keepsNothing !== true) return false;
  delivery.packetId = packetIdOf(message);
  return true;
}

/**
 * The packet id of a message that is kept nowhere: from its own id, in the upper half of the range, which no queue
 * uses. Two messages may share one, and as nobody acknowledges them nobody is harmed.
 */
function packetIdOf({ id }: Message): number {
  let hash = 0;
  for (let index = 0; index < id.length; index += 1) hash = (Math.imul(hash, 31) + id.charCodeAt(index)) | 0;
  return KEPT_PACKET_ID_MAX + 1 + (hash & KEPT_PACKET_ID_MAX);
}

function* offer(context: Context, message: Message, { queued, held }: SortedDeliveries): Flow<void> {
  const { limits, ports } = context;
  const queueLimits = {
    queueLengthMax: limits.queueLengthMax,
    queueBytesMax: limits.queueBytesMax,
    whenFull: limits.queueWhenFull,
  };
  const dropped = yield* waitFor(ports.queues.offer(message, queued, queueLimits, held));
  if (dropped === 0) return;
  for (const { session, dropped: gaveWay } of queued) {
    if (gaveWay !== undefined) ports.drops?.add(session, 'queue-full', gaveWay);
  }
  logDropped(context, message, dropped, 'queue-full');
}

/**
 * A message too large for a client counts as completely sent to it [MQTT-3.1.2-25]. One whose connection is gone
 * stays inflight: its session sends it again or ends.
 */
export function* settleFailures(
  context: Context,
  message: Message,
  failures: readonly FailedPush[],
): Flow<void> {
  for (const { delivery, failure } of failures) {
    context.ports.log.info('delivery-failed', {
      failure,
      clientId: delivery.session.clientId,
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
