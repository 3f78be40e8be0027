import {
  type Acknowledged,
  type CompletingPacket,
  isExpired,
  type Message,
  messageBytes,
  KEPT_PACKET_ID_MAX as PACKET_ID_MAX,
  Page,
  type PageLimit,
  type Queued,
  type QueuedPublish,
  type QueueLimits,
} from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Holding } from './holdings.ts';
import { type Inflight, InflightWindow } from './inflight-window.ts';
import type { HeldMessage } from './memory-budget.ts';
import { WaitingLine } from './waiting-line.ts';

/** A waiting message, and what its store keeps with it. */
export interface Waiting<Place> {
  readonly message: Message;
  readonly entry: QueuedPublish;
  readonly place: Place;
}

/** What the queues of a session in memory and on the disk have in common. */
export abstract class ClientQueue<Place> {
  protected readonly window = new InflightWindow<Place>();
  /** Made when the first message waits. */
  protected waiting: WaitingLine<Waiting<Place>> | undefined;

  get length(): number {
    return this.waiting?.length ?? 0;
  }

  /** Nothing waits, and nothing has to be sent again. */
  get isIdle(): boolean {
    return this.length === 0 && this.window.isResent;
  }

  /** Bytes of the waiting messages. */
  get bytes(): number {
    return this.waiting?.bytes ?? 0;
  }

  /** Messages that were sent and are not complete. */
  get inflight(): number {
    return this.window.size;
  }

  /** The message that its client has not acknowledged for longest. */
  get oldest(): Message | undefined {
    return this.window.oldest ?? this.waiting?.peek()?.message;
  }

  /** A new connection: everything inflight has to be sent again [MQTT-4.4.0-1]. */
  rewind(): void {
    this.window.rewind();
  }

  /** The packets that have to be sent again, in their old order; then the waiting messages. */
  dequeue(receiveMaximum: number, limit: PageLimit, nowMs: number): Queued[] {
    const dequeued = new Page<Queued>(limit);
    this.window.dequeueResends(dequeued, receiveMaximum);
    // While a message has to be sent again, no shorter one that came after it may take its place.
    if (!this.window.isBehind) this.#dequeueWaiting(dequeued, receiveMaximum, nowMs);
    return dequeued.entries;
  }

  /** Unacknowledged messages, oldest first. */
  unacknowledged(): QueuedPublish[] {
    return this.window.messages().concat(this.waiting?.toArray().map(({ entry }) => entry) ?? []);
  }

  /** Makes room for a message. Returns how many gave way; undefined: the message itself is dropped. */
  protected makeRoom(message: Message, limits: QueueLimits): number | undefined {
    this.waiting ??= new WaitingLine();
    const dropped = this.waiting.makeRoom(message, limits);
    for (const each of dropped ?? []) this.forget(each);
    return dropped?.length;
  }

  protected append(entry: QueuedPublish, place: Place): void {
    this.waiting ??= new WaitingLine();
    this.waiting.push({ message: entry.message, entry, place });
  }

  /** A PUBREL that was sent again has an id and no place in the window, so the ids can run out first. */
  protected abstract hasPacketIdFor(place: Place): boolean;
  /** A message that waits is dropped, or has expired. */
  protected abstract forget(waiting: Waiting<Place>): void;
  /** Puts a message inflight and gives it its packet id. */
  protected abstract begin(entry: QueuedPublish, place: Place): void;

  #dequeueWaiting(dequeued: Page<Queued>, receiveMaximum: number, nowMs: number): void {
    const waiting = this.waiting;
    while (waiting !== undefined && this.window.hasRoom(receiveMaximum)) {
      const oldest = waiting.peek();
      if (oldest === undefined || !this.hasPacketIdFor(oldest.place)) return;
      const { entry, place, message } = oldest;
      const bytes = messageBytes(message);
      const hasExpired = isExpired(message, nowMs);
      if (!hasExpired && !dequeued.hasRoom(bytes)) return;
      waiting.take();
      if (hasExpired) {
        this.forget(oldest); // [MQTT-3.3.2-5]
        continue;
      }
      this.begin(entry, place);
      dequeued.add(entry, bytes);
    }
  }
}

/** The queue of one session in memory. Made when its first QoS 1 or 2 message comes. */
export class SessionQueue extends ClientQueue<HeldMessage> {
  /** The holding that counts its messages. */
  readonly holding: Holding;
  #lastPacketId: PacketId = 0;

  constructor(holding: Holding) {
    super();
    this.holding = holding;
  }

  /** Whether a new message may be sent at once: no message is before it, and the window has room. */
  canSend(receiveMaximum: number): boolean {
    const hasRoom = this.window.hasRoom(receiveMaximum) && this.hasPacketIdFor();
    return this.length === 0 && !this.window.isBehind && hasRoom;
  }

  /** Puts a message inflight and gives it its packet id. */
  send(entry: QueuedPublish, held: HeldMessage): void {
    held.hold(this.holding);
    this.begin(entry, held);
  }

  /** Adds a waiting message; a full queue drops some. Returns how many were dropped. */
  wait(entry: QueuedPublish, held: HeldMessage, limits: QueueLimits): number {
    const dropped = this.makeRoom(entry.message, limits);
    if (dropped === undefined) return 1;
    held.hold(this.holding);
    this.append(entry, held);
    return dropped;
  }

  complete(packetId: PacketId, answer: CompletingPacket | undefined): Acknowledged {
    const inflight = this.window.toComplete(packetId, answer);
    if (typeof inflight === 'string') return inflight;
    this.#letGo(inflight);
    this.window.remove(packetId, inflight);
    return 'done';
  }

  /** The client has the message: it is not sent again [MQTT-4.3.3-6], and keeps its place in the window. */
  release(packetId: PacketId): Acknowledged {
    const inflight = this.window.toRelease(packetId);
    if (typeof inflight === 'string') return inflight;
    this.#letGo(inflight);
    this.window.release(packetId, inflight);
    return 'done';
  }

  /** Releases all its messages. */
  giveUp(): void {
    for (const inflight of this.window.toArray()) this.#letGo(inflight);
    for (const each of this.waiting?.toArray() ?? []) this.forget(each);
  }

  protected hasPacketIdFor(): boolean {
    return this.window.size < PACKET_ID_MAX;
  }

  protected forget({ place }: Waiting<HeldMessage>): void {
    place.release(this.holding);
  }

  protected begin(entry: QueuedPublish, held: HeldMessage): void {
    entry.delivery.packetId = this.#nextPacketId();
    this.window.begin(entry, held);
  }

  /** Round robin, so that an id rests as long as possible before it names another message. */
  #nextPacketId(): PacketId {
    do this.#lastPacketId = (this.#lastPacketId % PACKET_ID_MAX) + 1;
    while (this.window.has(this.#lastPacketId)); // [MQTT-2.2.1-4]
    return this.#lastPacketId;
  }

  /** The message is not needed any more. A PUBREL has released it before. */
  #letGo({ queued, place }: Inflight<HeldMessage>): void {
    if (queued.type === 'publish') place.release(this.holding);
  }
}
