import {
  type Acknowledged,
  type CompletingPacket,
  isExpired,
  KEPT_PACKET_ID_MAX as PACKET_ID_MAX,
  type PageLimit,
  type Queued,
  type QueuedPublish,
} from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { Fifo } from './fifo.ts';
import { bytesOf, Page } from './page.ts';

/** Something sent and not completed, in the order of sending. */
interface Inflight {
  /** The PUBLISH, or the PUBREL that stands for it once its PUBREC came. */
  queued: Queued;
  /** It has not been sent on this connection yet. */
  isToResend: boolean;
  /** It takes a place of the window: its PUBLISH was sent on this connection. */
  isCounted: boolean;
}

/** What one session has been promised. Made when its first QoS 1 or 2 message comes. */
export class SessionQueue {
  readonly #inflight = new Map<PacketId, Inflight>();
  #lastPacketId: PacketId = 0;
  /** Entries of `#inflight` that are counted: PUBLISHes sent on this connection [MQTT-4.9.0-1]. */
  #windowUsed = 0;
  /** Entries of `#inflight` that are to be sent again: messages, and PUBRELs. */
  #messagesToResend = 0;
  #pubrelsToResend = 0;
  #waiting: Fifo<QueuedPublish> | undefined;
  #waitingBytes = 0;

  get length(): number {
    return this.#waiting?.length ?? 0;
  }

  get bytes(): number {
    return this.#waitingBytes;
  }

  /** Whether a new message may be sent at once: nothing is before it, and the window has room. */
  canSend(receiveMaximum: number): boolean {
    return this.length === 0 && this.#messagesToResend === 0 && this.#canBegin(receiveMaximum);
  }

  /** Puts a message inflight and gives it its packet id. */
  send(entry: QueuedPublish): void {
    const packetId = this.#nextPacketId();
    entry.delivery.packetId = packetId;
    this.#inflight.set(packetId, { queued: entry, isToResend: false, isCounted: true });
    this.#windowUsed += 1;
  }

  wait(entry: QueuedPublish): void {
    this.#waiting ??= new Fifo();
    this.#waiting.push(entry);
    this.#waitingBytes += bytesOf(entry.message);
  }

  takeOldest(): QueuedPublish | undefined {
    const entry = this.#waiting?.shift();
    if (entry !== undefined) this.#waitingBytes -= bytesOf(entry.message);
    return entry;
  }

  /** A new connection: everything inflight is to be sent again, and the window is empty [MQTT-4.4.0-1]. */
  rewind(): void {
    this.#windowUsed = 0;
    this.#messagesToResend = 0;
    this.#pubrelsToResend = 0;
    for (const entry of this.#inflight.values()) {
      entry.isToResend = true;
      entry.isCounted = false;
      if (entry.queued.type === 'publish') this.#messagesToResend += 1;
      else this.#pubrelsToResend += 1;
    }
  }

  /** What is to be sent again, in its old order; then what waits. */
  draw(receiveMaximum: number, limit: PageLimit, nowMs: number): Queued[] {
    const drawn = new Page<Queued>(limit);
    this.#drawResends(drawn, receiveMaximum);
    // While a message is left that is to be sent again, no shorter one that came after it may take its place.
    if (this.#messagesToResend === 0) this.#drawWaiting(drawn, receiveMaximum, nowMs);
    return drawn.entries;
  }

  complete(packetId: PacketId, answer: CompletingPacket | undefined): Acknowledged {
    const entry = this.#inflight.get(packetId);
    if (entry === undefined) return 'unknown';
    if (answer !== undefined && answer !== completingPacketOf(entry.queued)) return 'out-of-place';
    this.#inflight.delete(packetId);
    this.#noLongerToResend(entry);
    if (entry.isCounted) this.#windowUsed -= 1;
    return 'done';
  }

  /** The message is with its receiver and is not sent again [MQTT-4.3.3-6]; its place in the window stays taken. */
  release(packetId: PacketId): Acknowledged {
    const entry = this.#inflight.get(packetId);
    if (entry === undefined) return 'unknown';
    if (entry.queued.type === 'pubrel') return 'done';
    if (entry.queued.delivery.qos !== 2) return 'out-of-place';
    // Whoever reports the PUBREC answers it with the PUBREL, perhaps on an earlier connection, where nobody reads it:
    // as long as nothing of it was sent on this one, the PUBREL is to be sent here as well.
    if (entry.isToResend) {
      this.#messagesToResend -= 1;
      this.#pubrelsToResend += 1;
    }
    entry.queued = { type: 'pubrel', packetId };
    return 'done';
  }

  /** Messages that were never acknowledged, oldest first. */
  unacknowledged(): QueuedPublish[] {
    const messages: QueuedPublish[] = [];
    for (const { queued } of this.#inflight.values()) if (queued.type === 'publish') messages.push(queued);
    return messages.concat(this.#waiting?.toArray() ?? []);
  }

  #drawResends(drawn: Page<Queued>, receiveMaximum: number): void {
    for (const entry of this.#inflight.values()) {
      const isFull = !this.#hasRoom(receiveMaximum);
      const left = this.#pubrelsToResend + (isFull ? 0 : this.#messagesToResend);
      if (left === 0) return;
      if (!entry.isToResend) continue;
      // A full window holds back messages, never a PUBREL [MQTT-3.3.4-10].
      if (isFull && entry.queued.type === 'publish') continue;
      const bytes = entry.queued.type === 'publish' ? bytesOf(entry.queued.message) : 0;
      if (!drawn.hasRoom(bytes)) return;
      this.#resend(entry);
      drawn.add(entry.queued, bytes);
    }
  }

  #resend(entry: Inflight): void {
    this.#noLongerToResend(entry);
    if (entry.queued.type === 'pubrel') return;
    entry.queued.delivery.dup = true; // [MQTT-3.3.1-1]
    entry.isCounted = true;
    this.#windowUsed += 1;
  }

  #noLongerToResend(entry: Inflight): void {
    if (!entry.isToResend) return;
    entry.isToResend = false;
    if (entry.queued.type === 'publish') this.#messagesToResend -= 1;
    else this.#pubrelsToResend -= 1;
  }

  #drawWaiting(drawn: Page<Queued>, receiveMaximum: number, nowMs: number): void {
    while (this.#canBegin(receiveMaximum)) {
      const oldest = this.#waiting?.peek();
      if (oldest === undefined) return;
      const bytes = bytesOf(oldest.message);
      const hasExpired = isExpired(oldest.message, nowMs);
      if (!hasExpired && !drawn.hasRoom(bytes)) return;
      this.takeOldest();
      if (hasExpired) continue; // [MQTT-3.3.2-5]
      this.send(oldest);
      drawn.add(oldest, bytes);
    }
  }

  /** [MQTT-4.9.0-2] */
  #hasRoom(receiveMaximum: number): boolean {
    return this.#windowUsed < receiveMaximum;
  }

  /** A PUBREL that was sent again holds its id without a place in the window: the ids can run out first. */
  #canBegin(receiveMaximum: number): boolean {
    return this.#hasRoom(receiveMaximum) && this.#inflight.size < PACKET_ID_MAX;
  }

  /** Round robin, so that an id rests as long as possible before it names another message. */
  #nextPacketId(): PacketId {
    do this.#lastPacketId = (this.#lastPacketId % PACKET_ID_MAX) + 1;
    while (this.#inflight.has(this.#lastPacketId)); // [MQTT-2.2.1-4]
    return this.#lastPacketId;
  }
}

/** What the client says when it is done with this: PUBACK at QoS 1; at QoS 2 a PUBREC with an error, or PUBCOMP. */
function completingPacketOf(queued: Queued): CompletingPacket {
  if (queued.type === 'pubrel') return 'pubcomp';
  return queued.delivery.qos === 1 ? 'puback' : 'pubrec';
}
