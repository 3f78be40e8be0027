import {
  type Acknowledged,
  type CompletingPacket,
  isExpired,
  type Message,
  messageBytes,
  Page,
  type PageLimit,
  type Queued,
  type QueuedPublish,
  type QueueLimits,
} from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { InflightWindow, messageOf, WaitingLine, type WindowProgress } from '@apus/store-memory';
import { PacketIds } from './packet-ids.ts';
import type { Place, QueueJournal } from './queue-journal.ts';

/** A waiting message, and its place on the disk. */
interface Waiting {
  readonly message: Message;
  readonly entry: QueuedPublish;
  readonly place: Place;
}

/** A page that may be sent now. */
export interface Dequeued {
  readonly entries: readonly Queued[];
  /** The position of the writer when everything was written that has to be durable before the page is sent. */
  readonly position: number;
}

/**
 * The queue of a durable session: the queue of `@apus/store-memory` with a journal. It copies the deliveries: while a
 * caller waits for the disk, a drain may send the message, and the caller's delivery must not get a packet id.
 */
export class DurableQueue {
  readonly #journal: QueueJournal;
  readonly #packetIds = new PacketIds();
  readonly #window = new InflightWindow<Place>();
  readonly #waiting = new WaitingLine<Waiting>();

  constructor(journal: QueueJournal) {
    this.#journal = journal;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Nothing waits, and nothing has to be sent again. */
  get isIdle(): boolean {
    return this.length === 0 && this.#window.isResent;
  }

  /** Bytes of the waiting messages. */
  get bytes(): number {
    return this.#waiting.bytes;
  }

  /** Messages that were sent and are not complete. */
  get inflight(): number {
    return this.#window.size;
  }

  /** Takes a message, with a packet id if it may be sent at once. Returns how many messages were dropped. */
  offer(
    entry: QueuedPublish,
    receiveMaximum: number,
    isHeld: boolean,
    isShared: boolean,
    limits: QueueLimits,
  ): number {
    const isBehind = this.length > 0 || this.#window.isBehind;
    // A PUBREL that was sent again has an id and no place in the window, so the ids can run out first.
    const hasRoom = this.#window.hasRoom(receiveMaximum) && !this.#packetIds.areExhausted;
    if (isHeld || isBehind || !hasRoom) return this.#wait(entry, isShared, limits);
    entry.delivery.packetId = this.#packetIds.take();
    this.#window.begin(entry, this.#journal.added(entry, isShared, 0));
    return 0;
  }

  /** A new connection: everything inflight has to be sent again [MQTT-4.4.0-1]. */
  rewind(): void {
    this.#window.rewind();
  }

  get progress(): WindowProgress {
    return this.#window.progress;
  }

  /** The connection has outlived the restart. */
  goOn(progress: WindowProgress): void {
    this.#window.goOn(progress);
  }

  /** The packets that are to be sent again, in their old order; then the messages that wait. */
  dequeue(receiveMaximum: number, limit: PageLimit, nowMs: number): Dequeued {
    const dequeued = new Page<Queued>(limit);
    this.#window.dequeueResends(dequeued, receiveMaximum);
    // While a message has to be sent again, no shorter one that came after it may take its place.
    if (!this.#window.isBehind) this.#dequeueWaiting(dequeued, receiveMaximum, nowMs);
    return { entries: dequeued.entries, position: this.#positionOf(dequeued.entries) };
  }

  complete(packetId: PacketId, answer: CompletingPacket | undefined): Acknowledged {
    const inflight = this.#window.toComplete(packetId, answer);
    if (typeof inflight === 'string') return inflight;
    this.#window.remove(packetId, inflight);
    this.#packetIds.free(packetId);
    this.#journal.removed(inflight.place, messageOf(inflight.queued));
    return 'done';
  }

  /** The client has the message: it is not sent again [MQTT-4.3.3-6]. */
  release(packetId: PacketId): Acknowledged {
    const inflight = this.#window.toRelease(packetId);
    if (typeof inflight === 'string') return inflight;
    this.#journal.released(inflight.place, packetId, inflight.queued);
    this.#window.release(packetId, inflight);
    return 'done';
  }

  /** Unacknowledged messages, oldest first. */
  unacknowledged(): QueuedPublish[] {
    return this.#window.messages().concat(this.#waiting.toArray().map(({ entry }) => entry));
  }

  /** The message that its client has not acknowledged for longest. */
  get oldest(): Message | undefined {
    return this.#window.oldest ?? this.#waiting.peek()?.entry.message;
  }

  /** Deletes everything from the disk, and leaves it in memory. */
  erase(): void {
    for (const { place, queued } of this.#window.toArray()) this.#journal.removed(place, messageOf(queued));
    for (const { place, entry } of this.#waiting.toArray()) this.#journal.removed(place, entry);
  }

  /** Adds a message from the disk; they come in the order of their numbers. A message without a packet id waits. */
  restore(queued: Queued, place: Place): void {
    const packetId = queued.type === 'publish' ? queued.delivery.packetId : queued.packetId;
    const usedId = packetId || place.reservedId;
    if (usedId !== 0) this.#packetIds.restore(usedId);
    if (queued.type === 'publish') this.#journal.restored(queued);
    if (queued.type === 'publish' && packetId === 0) this.#append(queued, place);
    else this.#window.restore(packetId, queued, place);
  }

  /** A waiting message at QoS 2 gets its packet id now, so that it can be sent without another wait for the disk. */
  #wait(entry: QueuedPublish, isShared: boolean, limits: QueueLimits): number {
    const dropped = this.#waiting.makeRoom(entry.message, limits);
    if (dropped === undefined) return 1;
    for (const each of dropped) this.#forget(each);
    const reservedId = entry.delivery.qos === 2 ? this.#packetIds.reserve() : 0;
    this.#append(entry, this.#journal.added(entry, isShared, reservedId));
    return dropped.length;
  }

  #append(entry: QueuedPublish, place: Place): void {
    this.#waiting.push({ message: entry.message, entry, place });
  }

  #forget({ entry, place }: Waiting): void {
    if (place.reservedId !== 0) this.#packetIds.free(place.reservedId);
    this.#journal.removed(place, entry);
  }

  #dequeueWaiting(dequeued: Page<Queued>, receiveMaximum: number, nowMs: number): void {
    while (this.#window.hasRoom(receiveMaximum)) {
      const oldest = this.#waiting.peek();
      if (oldest === undefined || (oldest.place.reservedId === 0 && this.#packetIds.areExhausted)) return;
      const { entry, place } = oldest;
      const bytes = messageBytes(entry.message);
      const hasExpired = isExpired(entry.message, nowMs);
      if (!hasExpired && !dequeued.hasRoom(bytes)) return;
      this.#waiting.take();
      if (hasExpired) {
        this.#forget(oldest); // [MQTT-3.3.2-5]
        continue;
      }
      entry.delivery.packetId = place.reservedId || this.#packetIds.take();
      this.#journal.sent(place, entry);
      this.#window.begin(entry, place);
      dequeued.add(entry, bytes);
    }
  }

  /** At QoS 1 a message may come twice, so nothing has to be durable before it is sent. */
  #positionOf(entries: readonly Queued[]): number {
    let position = 0;
    for (const queued of entries) {
      if (queued.type === 'publish' && queued.delivery.qos === 1) continue;
      const packetId = queued.type === 'publish' ? queued.delivery.packetId : queued.packetId;
      position = Math.max(position, this.#window.get(packetId)?.place.position ?? 0);
    }
    return position;
  }
}
