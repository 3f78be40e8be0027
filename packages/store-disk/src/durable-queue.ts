import type { Acknowledged, CompletingPacket, Queued, QueuedPublish, QueueLimits } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { ClientQueue, messageOf, type Waiting, type WindowProgress } from '@apus/store-memory';
import { PacketIds } from './packet-ids.ts';
import type { Place, QueueJournal } from './queue-journal.ts';

/**
 * The queue of a durable session: with each message its place in the journal. It copies the deliveries: while a
 * caller waits for the disk, a drain may send the message, and the caller's delivery must not get a packet id.
 */
export class DurableQueue extends ClientQueue<Place> {
  readonly #journal: QueueJournal;
  readonly #packetIds = new PacketIds();

  constructor(journal: QueueJournal) {
    super();
    this.#journal = journal;
  }

  /** Takes a message, with a packet id if it may be sent at once. Returns how many messages were dropped. */
  offer(
    entry: QueuedPublish,
    receiveMaximum: number,
    isHeld: boolean,
    isShared: boolean,
    limits: QueueLimits,
  ): number {
    const isBehind = this.length > 0 || this.window.isBehind;
    const hasRoom = this.window.hasRoom(receiveMaximum) && !this.#packetIds.areExhausted;
    if (isHeld || isBehind || !hasRoom) return this.#wait(entry, isShared, limits);
    entry.delivery.packetId = this.#packetIds.take();
    this.window.begin(entry, this.#journal.added(entry, isShared, 0));
    return 0;
  }

  get progress(): WindowProgress {
    return this.window.progress;
  }

  /** The connection has outlived the restart. */
  goOn(progress: WindowProgress): void {
    this.window.goOn(progress);
  }

  complete(packetId: PacketId, answer: CompletingPacket | undefined): Acknowledged {
    const inflight = this.window.toComplete(packetId, answer);
    if (typeof inflight === 'string') return inflight;
    this.window.remove(packetId, inflight);
    this.#packetIds.free(packetId);
    this.#journal.removed(inflight.place, messageOf(inflight.queued));
    return 'done';
  }

  /** The client has the message: it is not sent again [MQTT-4.3.3-6]. */
  release(packetId: PacketId): Acknowledged {
    const inflight = this.window.toRelease(packetId);
    if (typeof inflight === 'string') return inflight;
    this.#journal.released(inflight.place, packetId, inflight.queued);
    this.window.release(packetId, inflight);
    return 'done';
  }

  /** Deletes everything from the disk, and leaves it in memory. */
  erase(): void {
    for (const { place, queued } of this.window.toArray()) this.#journal.removed(place, messageOf(queued));
    for (const { place, entry } of this.waiting?.toArray() ?? []) this.#journal.removed(place, entry);
  }

  /** Adds a message from the disk; they come in the order of their numbers. A message without a packet id waits. */
  restore(queued: Queued, place: Place): void {
    const packetId = queued.type === 'publish' ? queued.delivery.packetId : queued.packetId;
    const usedId = packetId || place.reservedId;
    if (usedId !== 0) this.#packetIds.restore(usedId);
    if (queued.type === 'publish') this.#journal.restored(queued);
    if (queued.type === 'publish' && packetId === 0) this.append(queued, place);
    else this.window.restore(packetId, queued, place);
  }

  /**
   * The position of the writer when everything of a page is written that has to be durable before the page is sent. At
   * QoS 1 a message may come twice, so nothing has to be.
   */
  positionOf(page: readonly Queued[]): number {
    let position = 0;
    for (const queued of page) {
      if (queued.type === 'publish' && queued.delivery.qos === 1) continue;
      const packetId = queued.type === 'publish' ? queued.delivery.packetId : queued.packetId;
      position = Math.max(position, this.window.get(packetId)?.place.position ?? 0);
    }
    return position;
  }

  protected hasPacketIdFor({ reservedId }: Place): boolean {
    return reservedId !== 0 || !this.#packetIds.areExhausted;
  }

  protected forget({ entry, place }: Waiting<Place>): void {
    if (place.reservedId !== 0) this.#packetIds.free(place.reservedId);
    this.#journal.removed(place, entry);
  }

  protected begin(entry: QueuedPublish, place: Place): void {
    entry.delivery.packetId = place.reservedId || this.#packetIds.take();
    this.#journal.sent(place, entry);
    this.window.begin(entry, place);
  }

  /** A waiting message at QoS 2 gets its packet id now, so that it can be sent without another wait for the disk. */
  #wait(entry: QueuedPublish, isShared: boolean, limits: QueueLimits): number {
    const dropped = this.makeRoom(entry.message, limits);
    if (dropped === undefined) return 1;
    const reservedId = entry.delivery.qos === 2 ? this.#packetIds.reserve() : 0;
    this.append(entry, this.#journal.added(entry, isShared, reservedId));
    return dropped;
  }
}
