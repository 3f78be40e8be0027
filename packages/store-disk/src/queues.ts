import type {
  Acknowledged,
  Awaitable,
  CompletingPacket,
  Delivery,
  Message,
  PageLimit,
  Queued,
  QueuedPublish,
  QueueLimits,
  QueueStore,
  SessionRef,
} from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { MemoryQueues, WindowProgress } from '@apus/store-memory';
import type { DurableSession, DurableSessions } from './durable-sessions.ts';
import { isPassingNumber } from './keys.ts';
import type { RepeatableFanOuts } from './repeatable-fan-outs.ts';
import type { Writer } from './writer.ts';

const NOTHING: readonly Queued[] = [];

/** Queues in memory; those of durable sessions are on the disk as well. */
export class DiskQueues implements QueueStore {
  readonly #memory: MemoryQueues;
  readonly #durables: DurableSessions;
  readonly #repeatable: RepeatableFanOuts;
  readonly #writer: Writer;

  constructor(
    memory: MemoryQueues,
    durables: DurableSessions,
    repeatable: RepeatableFanOuts,
    writer: Writer,
  ) {
    this.#memory = memory;
    this.#durables = durables;
    this.#repeatable = repeatable;
    this.#writer = writer;
  }

  offer(
    message: Message,
    deliveries: readonly Delivery[],
    limits: QueueLimits,
    hold?: ReadonlySet<Delivery>,
  ): Awaitable<number> {
    const first = this.#repeatable.firstOf(message, deliveries);
    const isDurable = ({ session }: Delivery) => this.#durables.find(session) !== undefined;
    if (first === deliveries && !deliveries.some(isDurable)) {
      return this.#memory.offer(message, deliveries, limits, hold);
    }
    this.#writer.assertWorking();
    const durables = first.filter(isDurable);
    const others = first.filter((delivery) => !isDurable(delivery));
    let dropped = this.#offerInMemory(message, others, limits, hold);
    for (const delivery of durables) {
      dropped += this.#offerOnDisk(
        message,
        delivery,
        limits,
        hold?.has(delivery) === true,
        durables.length > 1,
      );
    }
    return this.#writer.durable(dropped);
  }

  /**
   * A message at QoS 2 is sent when it and its packet id are durable: under another packet id the client would take it
   * for another message. A message at QoS 1 may come twice, and leaves at once. But no message overtakes one that
   * waits for the disk: the old connection of a client that is back may still dequeue between the pages of the new
   * one.
   */
  next(ref: SessionRef, limit: PageLimit, nowMs: number): Awaitable<readonly Queued[]> {
    const durable = this.#durables.find(ref);
    if (durable === undefined) return this.#memory.next(ref, limit, nowMs);
    const { attachment } = durable.live;
    if (attachment === undefined || durable.queue === undefined) return NOTHING;
    const entries = durable.queue.dequeue(attachment.receiveMaximum, limit, nowMs);
    if (entries.length === 0) return NOTHING;
    return this.#writer.isDurable(Math.max(durable.queue.positionOf(entries), durable.sentPosition))
      ? this.#writer.accepted(entries)
      : this.#sentWhenDurable(durable, entries);
  }

  complete(ref: SessionRef, packetId: PacketId, answer?: CompletingPacket): Awaitable<Acknowledged> {
    const durable = this.#durables.find(ref);
    if (durable === undefined) return this.#memory.complete(ref, packetId, answer);
    return this.#writer.accepted(durable.queue?.complete(packetId, answer) ?? 'unknown');
  }

  /**
   * After PUBREL the client would take a PUBLISH with this packet id for a new message, so the PUBREC has to be
   * durable.
   */
  release(ref: SessionRef, packetId: PacketId): Awaitable<Acknowledged> {
    const durable = this.#durables.find(ref);
    if (durable === undefined) return this.#memory.release(ref, packetId);
    const outcome = durable.queue?.release(packetId) ?? 'unknown';
    return outcome === 'done' ? this.#writer.durable(outcome) : outcome;
  }

  unacknowledged(ref: SessionRef): readonly QueuedPublish[] {
    const durable = this.#durables.find(ref);
    return durable === undefined ? this.#memory.unacknowledged(ref) : (durable.queue?.unacknowledged() ?? []);
  }

  clear(ref: SessionRef): Awaitable<void> {
    const durable = this.#durables.find(ref);
    if (durable === undefined) return this.#memory.clear(ref);
    if (!durable.hasEnded) durable.queue?.erase();
    durable.queue = undefined;
    this.#durables.forget(durable);
    return this.#writer.accepted(undefined);
  }

  isIdle(ref: SessionRef): boolean {
    const durable = this.#durables.find(ref);
    return durable === undefined ? this.#memory.isIdle(ref) : durable.queue?.isIdle !== false;
  }

  length(ref: SessionRef): number {
    const durable = this.#durables.find(ref);
    return durable === undefined ? this.#memory.length(ref) : (durable.queue?.length ?? 0);
  }

  /** `messageBytes` of the waiting messages. */
  bytes(ref: SessionRef): number {
    const durable = this.#durables.find(ref);
    return durable === undefined ? this.#memory.bytes(ref) : (durable.queue?.bytes ?? 0);
  }

  /** Messages that were sent and are not complete. */
  inflight(ref: SessionRef): number {
    const durable = this.#durables.find(ref);
    return durable === undefined ? this.#memory.inflight(ref) : (durable.queue?.inflight ?? 0);
  }

  /** How far the session's window has come on its connection. Undefined: nothing is inflight. */
  progressOf(ref: SessionRef): WindowProgress | undefined {
    const queue = this.#durables.find(ref)?.queue;
    return queue === undefined || queue.inflight === 0 ? undefined : queue.progress;
  }

  /** The message that its client has not acknowledged for longest. */
  oldest(ref: SessionRef): Message | undefined {
    const durable = this.#durables.find(ref);
    return durable === undefined ? this.#memory.oldest(ref) : durable.queue?.oldest;
  }

  #sentWhenDurable<T>(durable: DurableSession, answer: T): Awaitable<T> {
    durable.sentPosition = this.#writer.position;
    return this.#writer.durable(answer);
  }

  /**
   * Offers to sessions that are in memory only. While this call waits for the disk, a waiting message may be dequeued
   * and sent. So the queue gets a copy of the delivery, and the caller finds no packet id and does not send the
   * message as well.
   */
  #offerInMemory(
    message: Message,
    deliveries: readonly Delivery[],
    limits: QueueLimits,
    hold: ReadonlySet<Delivery> | undefined,
  ): number {
    if (deliveries.length === 0) return 0;
    const pairs = deliveries.map((delivery) => ({ delivery, copy: { ...delivery } }));
    const held = pairs.filter(({ delivery }) => hold?.has(delivery)).map(({ copy }) => copy);
    const copies = pairs.map(({ copy }) => copy);
    const dropped = this.#memory.offer(message, copies, limits, new Set(held));
    for (const { delivery, copy } of pairs) {
      delivery.packetId = copy.packetId;
      if (copy.dropped !== undefined) delivery.dropped = copy.dropped;
    }
    return dropped;
  }

  #offerOnDisk(
    message: Message,
    delivery: Delivery,
    limits: QueueLimits,
    isHeld: boolean,
    hasOthers: boolean,
  ): number {
    const durable = this.#durables.find(delivery.session);
    if (durable === undefined) return 0;
    const { live, number } = durable;
    if (!this.#durables.heldMessages.fits(message, live)) {
      delivery.dropped = 1;
      return 1;
    }
    const own: Delivery = { ...delivery, session: live, packetId: 0 };
    const receiveMaximum = live.attachment?.receiveMaximum ?? 0;
    const queue = this.#durables.queueOf(durable);
    const entry: QueuedPublish = { type: 'publish', message, delivery: own };
    // The records of a session that ends with its connection stay together.
    const isShared = hasOthers && !isPassingNumber(number);
    const dropped = queue.offer(entry, receiveMaximum, isHeld, isShared, limits);
    delivery.packetId = own.packetId;
    if (dropped > 0) delivery.dropped = dropped;
    if (own.packetId !== 0) durable.sentPosition = this.#writer.position;
    return dropped;
  }
}
