import type { Queued, QueuedPublish } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { bytesOf, type Page } from '@apus/store-memory';
import type { Place } from './queue-journal.ts';

/** Something sent and not completed. */
export interface Inflight {
  /** The PUBLISH, or the PUBREL that stands for it once its PUBREC came. */
  queued: Queued;
  readonly place: Place;
  /** It has not been sent on this connection yet. */
  isToResend: boolean;
  /** It takes a place of the window: its PUBLISH was sent on this connection. */
  isCounted: boolean;
}

export function messageOf(queued: Queued): QueuedPublish | undefined {
  return queued.type === 'publish' ? queued : undefined;
}

/** What one session was sent and has not completed, in the order of sending, and how much more it takes. */
export class InflightWindow {
  readonly #inflight = new Map<PacketId, Inflight>();
  /** PUBLISHes sent on this connection and not complete [MQTT-4.9.0-1]. */
  #used = 0;
  #messagesToResend = 0;
  #pubrelsToResend = 0;

  /** A message is left that has to be sent again before any new one. */
  get isBehind(): boolean {
    return this.#messagesToResend > 0;
  }

  /** [MQTT-4.9.0-2] */
  hasRoom(receiveMaximum: number): boolean {
    return this.#used < receiveMaximum;
  }

  get(packetId: PacketId): Inflight | undefined {
    return this.#inflight.get(packetId);
  }

  toArray(): readonly Inflight[] {
    return [...this.#inflight.values()];
  }

  begin(entry: QueuedPublish, place: Place): void {
    this.#inflight.set(entry.delivery.packetId, { queued: entry, place, isToResend: false, isCounted: true });
    this.#used += 1;
  }

  /** Something found on the disk; `rewind` follows before anything is sent. */
  restore(packetId: PacketId, queued: Queued, place: Place): void {
    this.#inflight.set(packetId, { queued, place, isToResend: false, isCounted: false });
  }

  remove(packetId: PacketId, inflight: Inflight): void {
    this.#inflight.delete(packetId);
    this.#noLongerToResend(inflight);
    if (inflight.isCounted) this.#used -= 1;
  }

  /**
   * Its place in the window stays taken. Whoever reports the PUBREC answers it with the PUBREL, perhaps on an earlier
   * connection: as long as nothing of it was sent on this one, the PUBREL is to be sent here as well.
   */
  release(packetId: PacketId, inflight: Inflight): void {
    if (inflight.isToResend) {
      this.#messagesToResend -= 1;
      this.#pubrelsToResend += 1;
    }
    inflight.queued = { type: 'pubrel', packetId };
  }

  /** A new connection: everything is to be sent again, and the window is empty [MQTT-4.4.0-1]. */
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

  /** Adds what is to be sent again, in its old order, as far as page and window go. */
  drawResends(drawn: Page<Queued>, receiveMaximum: number): void {
    for (const inflight of this.#inflight.values()) {
      const isFull = !this.hasRoom(receiveMaximum);
      const left = this.#pubrelsToResend + (isFull ? 0 : this.#messagesToResend);
      if (left === 0) return;
      if (!inflight.isToResend) continue;
      const message = messageOf(inflight.queued);
      // A full window holds back messages, never a PUBREL [MQTT-3.3.4-10].
      if (isFull && message !== undefined) continue;
      const bytes = message === undefined ? 0 : bytesOf(message.message);
      if (!drawn.hasRoom(bytes)) return;
      this.#resend(inflight);
      drawn.add(inflight.queued, bytes);
    }
  }

  #resend(inflight: Inflight): void {
    this.#noLongerToResend(inflight);
    if (inflight.queued.type === 'pubrel') return;
    inflight.queued.delivery.dup = true; // [MQTT-3.3.1-1]
    inflight.isCounted = true;
    this.#used += 1;
  }

  #noLongerToResend(inflight: Inflight): void {
    if (!inflight.isToResend) return;
    inflight.isToResend = false;
    if (inflight.queued.type === 'publish') this.#messagesToResend -= 1;
    else this.#pubrelsToResend -= 1;
  }
}
