import {
  type Acknowledged,
  type CompletingPacket,
  type Message,
  messageBytes,
  type Page,
  type Queued,
  type QueuedPublish,
} from '@apus/broker';
import type { PacketId } from '@apus/mqtt';

/** A packet that was sent and is not complete. */
export interface Inflight<Place> {
  /** The PUBLISH; after its PUBREC the PUBREL. */
  queued: Queued;
  /** The place of the message in another store, such as the disk. */
  readonly place: Place;
  /** It has to be sent again on this connection. */
  isToResend: boolean;
  /** It has a place in the window: its PUBLISH was sent on this connection. */
  isCounted: boolean;
}

/** A message without PUBREC. */
export interface InflightMessage<Place> extends Inflight<Place> {
  queued: QueuedPublish;
}

/** How far a window has come on its connection: the other packets were sent on it, and have their places. */
export interface WindowProgress {
  /** They have to be sent again. */
  readonly toResend: readonly PacketId[];
  /** PUBRELs that were sent again, and have no place in the window. */
  readonly uncounted: readonly PacketId[];
}

export function messageOf(queued: Queued): QueuedPublish | undefined {
  return queued.type === 'publish' ? queued : undefined;
}

/** The messages that one session was sent and has not completed, in the order of sending, and the room for more. */
export class InflightWindow<Place> {
  readonly #inflight = new Map<PacketId, Inflight<Place>>();
  /** PUBLISHes sent on this connection and not complete [MQTT-4.9.0-1]. */
  #used = 0;
  #messagesToResend = 0;
  #pubrelsToResend = 0;

  /** Packet ids in use. A PUBREL that was sent again has one without a place in the window. */
  get size(): number {
    return this.#inflight.size;
  }

  /** A message has to be sent again before any new one. */
  get isBehind(): boolean {
    return this.#messagesToResend > 0;
  }

  /** Nothing has to be sent again. */
  get isResent(): boolean {
    return this.#messagesToResend + this.#pubrelsToResend === 0;
  }

  /** [MQTT-4.9.0-2] */
  hasRoom(receiveMaximum: number): boolean {
    return this.#used < receiveMaximum;
  }

  has(packetId: PacketId): boolean {
    return this.#inflight.has(packetId);
  }

  get(packetId: PacketId): Inflight<Place> | undefined {
    return this.#inflight.get(packetId);
  }

  toArray(): readonly Inflight<Place>[] {
    return [...this.#inflight.values()];
  }

  /** Unacknowledged messages, oldest first. */
  messages(): QueuedPublish[] {
    const messages: QueuedPublish[] = [];
    for (const { queued } of this.#inflight.values()) if (queued.type === 'publish') messages.push(queued);
    return messages;
  }

  /** The oldest message without PUBREC. */
  get oldest(): Message | undefined {
    for (const { queued } of this.#inflight.values()) if (queued.type === 'publish') return queued.message;
    return undefined;
  }

  /** A message is sent under the packet id of its delivery. */
  begin(entry: QueuedPublish, place: Place): void {
    this.#inflight.set(entry.delivery.packetId, { queued: entry, place, isToResend: false, isCounted: true });
    this.#used += 1;
  }

  /** A packet that was sent before a restart. `rewind` or `goOn` follows before anything is sent. */
  restore(packetId: PacketId, queued: Queued, place: Place): void {
    this.#inflight.set(packetId, { queued, place, isToResend: false, isCounted: false });
  }

  get progress(): WindowProgress {
    const toResend: PacketId[] = [];
    const uncounted: PacketId[] = [];
    for (const [packetId, { isToResend, isCounted }] of this.#inflight) {
      if (isToResend) toResend.push(packetId);
      else if (!isCounted) uncounted.push(packetId);
    }
    return { toResend, uncounted };
  }

  /** The connection has outlived the restart: what it was sent is not sent again. */
  goOn({ toResend, uncounted }: WindowProgress): void {
    this.rewind();
    const waiting = new Set(toResend);
    const apart = new Set(uncounted);
    for (const [packetId, inflight] of this.#inflight) {
      if (waiting.has(packetId)) continue;
      this.#noLongerToResend(inflight);
      if (apart.has(packetId)) continue;
      inflight.isCounted = true;
      this.#used += 1;
    }
  }

  /** The message that this answer completes, or the outcome if it completes none. `remove` follows. */
  toComplete(
    packetId: PacketId,
    answer: CompletingPacket | undefined,
  ): Inflight<Place> | Exclude<Acknowledged, 'done'> {
    const inflight = this.#inflight.get(packetId);
    if (inflight === undefined) return 'unknown';
    return answer === undefined || answer === completingPacketOf(inflight.queued) ? inflight : 'out-of-place';
  }

  remove(packetId: PacketId, inflight: Inflight<Place>): void {
    this.#inflight.delete(packetId);
    this.#noLongerToResend(inflight);
    if (inflight.isCounted) this.#used -= 1;
  }

  /** The message of a PUBREC, or the outcome if nothing has to be done. `release` follows [MQTT-4.3.3-6]. */
  toRelease(packetId: PacketId): InflightMessage<Place> | Acknowledged {
    const inflight = this.#inflight.get(packetId);
    if (inflight === undefined) return 'unknown';
    if (!isMessage(inflight)) return 'done';
    return inflight.queued.delivery.qos === 2 ? inflight : 'out-of-place';
  }

  /**
   * Its place in the window stays taken. The caller answers the PUBREC with PUBREL, perhaps on an earlier connection:
   * if the message was not sent on this connection, the PUBREL has to be sent here as well.
   */
  release(packetId: PacketId, inflight: Inflight<Place>): void {
    if (inflight.isToResend) {
      this.#messagesToResend -= 1;
      this.#pubrelsToResend += 1;
    }
    inflight.queued = { type: 'pubrel', packetId };
  }

  /** A new connection: everything has to be sent again, and the window is empty [MQTT-4.4.0-1]. */
  rewind(): void {
    this.#used = 0;
    this.#messagesToResend = 0;
    this.#pubrelsToResend = 0;
    for (const inflight of this.#inflight.values()) {
      inflight.isToResend = true;
      inflight.isCounted = false;
      if (inflight.queued.type === 'publish') this.#messagesToResend += 1;
      else this.#pubrelsToResend += 1;
    }
  }

  /** Adds the packets that have to be sent again, in their old order, as far as page and window have room. */
  dequeueResends(dequeued: Page<Queued>, receiveMaximum: number): void {
    for (const inflight of this.#inflight.values()) {
      const isFull = !this.hasRoom(receiveMaximum);
      const left = this.#pubrelsToResend + (isFull ? 0 : this.#messagesToResend);
      if (left === 0) return;
      if (!inflight.isToResend) continue;
      const message = messageOf(inflight.queued);
      // A full window holds back messages, never a PUBREL [MQTT-3.3.4-10].
      if (isFull && message !== undefined) continue;
      const bytes = message === undefined ? 0 : messageBytes(message.message);
      if (!dequeued.hasRoom(bytes)) return;
      this.#resend(inflight);
      dequeued.add(inflight.queued, bytes);
    }
  }

  #resend(inflight: Inflight<Place>): void {
    this.#noLongerToResend(inflight);
    if (inflight.queued.type === 'pubrel') return;
    inflight.queued.delivery.dup = true; // [MQTT-3.3.1-1]
    inflight.isCounted = true;
    this.#used += 1;
  }

  #noLongerToResend(inflight: Inflight<Place>): void {
    if (!inflight.isToResend) return;
    inflight.isToResend = false;
    if (inflight.queued.type === 'publish') this.#messagesToResend -= 1;
    else this.#pubrelsToResend -= 1;
  }
}

function isMessage<Place>(inflight: Inflight<Place>): inflight is InflightMessage<Place> {
  return inflight.queued.type === 'publish';
}

/**
 * The packet with which the client completes the exchange: PUBACK at QoS 1; at QoS 2 a PUBREC with an error, or
 * PUBCOMP.
 */
function completingPacketOf(queued: Queued): CompletingPacket {
  if (queued.type === 'pubrel') return 'pubcomp';
  return queued.delivery.qos === 1 ? 'puback' : 'pubrec';
}
