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

/** A message that waits. */
interface Waiting {
  readonly message: Message;
  readonly entry: QueuedPublish;
  readonly held: HeldMessage;
}

/** The queue of one session. Made when its first QoS 1 or 2 message comes. */
export class SessionQueue {
  /** The holding that counts its messages. */
  readonly holding: Holding;
  readonly #window = new InflightWindow<HeldMessage>();
  #lastPacketId: PacketId = 0;
  /** Made when the first message waits. */
  #waiting: WaitingLine<Waiting> | undefined;

  constructor(holding: Holding) {
    this.holding = holding;
  }

  get length(): number {
    return this.#waiting?.length ?? 0;
  }

  /** Nothing waits, and nothing has to be sent again. */
  get isIdle(): boolean {
    return this.length === 0 && this.#window.isResent;
  }

  /** Bytes of the waiting messages. */
  get bytes(): number {
    return this.#waiting?.bytes ?? 0;
  }

  /** Messages that were sent and are not complete. */
  get inflight(): number {
    return this.#window.size;
  }

  /** The message that its client has not acknowledged for longest. */
  get oldest(): Message | undefined {
    return this.#window.oldest ?? this.#waiting?.peek()?.message;
  }

  /** Whether a new message may be sent at once: no message is before it, and the window has room. */
  canSend(receiveMaximum: number): boolean {
    return this.length === 0 && !this.#window.isBehind && this.#canBegin(receiveMaximum);
  }

  /** Puts a message inflight and gives it its packet id. */
  send(entry: QueuedPublish, held: HeldMessage): void {
    held.hold(this.holding);
    this.#begin(entry, held);
  }

  /** Adds a waiting message; a full queue drops some. Returns how many were dropped. */
  wait(entry: QueuedPublish, held: HeldMessage, limits: QueueLimits): number {
    this.#waiting ??= new WaitingLine();
    const dropped = this.#waiting.makeRoom(entry.message, limits);
    if (dropped === undefined) return 1;
    for (const each of dropped) each.held.release(this.holding);
    held.hold(this.holding);
    this.#waiting.push({ message: entry.message, entry, held });
    return dropped.length;
  }

  /** A new connection: everything inflight has to be sent again [MQTT-4.4.0-1]. */
  rewind(): void {
    this.#window.rewind();
  }

  /** The packets that have to be sent again, in their old order; then the waiting messages. */
  dequeue(receiveMaximum: number, limit: PageLimit, nowMs: number): Queued[] {
    const dequeued = new Page<Queued>(limit);
    this.#window.dequeueResends(dequeued, receiveMaximum);
    // While a message has to be sent again, no shorter one that came after it may take its place.
    if (!this.#window.isBehind) this.#dequeueWaiting(dequeued, receiveMaximum, nowMs);
    return dequeued.entries;
  }

  complete(packetId: PacketId, answer: CompletingPacket | undefined): Acknowledged {
    const inflight = this.#window.toComplete(packetId, answer);
    if (typeof inflight === 'string') return inflight;
    this.#letGo(inflight);
    this.#window.remove(packetId, inflight);
    return 'done';
  }

  /** The client has the message: it is not sent again [MQTT-4.3.3-6], and keeps its place in the window. */
  release(packetId: PacketId): Acknowledged {
    const inflight = this.#window.toRelease(packetId);
    if (typeof inflight === 'string') return inflight;
    this.#letGo(inflight);
    this.#window.release(packetId, inflight);
    return 'done';
  }

  /** Unacknowledged messages, oldest first. */
  unacknowledged(): QueuedPublish[] {
    return this.#window.messages().concat(this.#waiting?.toArray().map(({ entry }) => entry) ?? []);
  }

  /** Releases all its messages. */
  giveUp(): void {
    for (const inflight of this.#window.toArray()) this.#letGo(inflight);
    for (const { held } of this.#waiting?.toArray() ?? []) held.release(this.holding);
  }

  #dequeueWaiting(dequeued: Page<Queued>, receiveMaximum: number, nowMs: number): void {
    const waiting = this.#waiting;
    while (waiting !== undefined && this.#canBegin(receiveMaximum)) {
      const oldest = waiting.peek();
      if (oldest === undefined) return;
      const bytes = messageBytes(oldest.message);
      const hasExpired = isExpired(oldest.message, nowMs);
      if (!hasExpired && !dequeued.hasRoom(bytes)) return;
      waiting.take();
      if (hasExpired) {
        oldest.held.release(this.holding); // [MQTT-3.3.2-5]
        continue;
      }
      this.#begin(oldest.entry, oldest.held);
      dequeued.add(oldest.entry, bytes);
    }
  }

  #begin(entry: QueuedPublish, held: HeldMessage): void {
    entry.delivery.packetId = this.#nextPacketId();
    this.#window.begin(entry, held);
  }

  /** A PUBREL that was sent again has an id and no place in the window, so the ids can run out first. */
  #canBegin(receiveMaximum: number): boolean {
    return this.#window.hasRoom(receiveMaximum) && this.#window.size < PACKET_ID_MAX;
  }

  /** Round robin, so that an id rests as long as possible before it names another message. */
  #nextPacketId(): PacketId {
    do this.#lastPacketId = (this.#lastPacketId % PACKET_ID_MAX) + 1;
    while (this.#window.has(this.#lastPacketId)); // [MQTT-2.2.1-4]
    return this.#lastPacketId;
  }

  /** The message is not needed any more. A PUBREL has released it before. */
  #letGo({ queued, place }: Inflight<HeldMessage>): void {
    if (queued.type === 'publish') place.release(this.holding);
  }
}
