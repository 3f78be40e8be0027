import { KEPT_PACKET_ID_MAX as PACKET_ID_MAX } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';

/** Beyond it messages wait without a packet id, so that earlier ones always find one. */
const RESERVED_MAX = PACKET_ID_MAX >> 1;

/** The packet ids of one queue: of inflight messages, and of waiting messages that have one already. */
export class PacketIds {
  readonly #used = new Set<PacketId>();
  #last: PacketId = 0;

  get areExhausted(): boolean {
    return this.#used.size >= PACKET_ID_MAX;
  }

  /** Round robin, so that an id rests as long as possible before it names another message. */
  take(): PacketId {
    do this.#last = (this.#last % PACKET_ID_MAX) + 1;
    while (this.#used.has(this.#last)); // [MQTT-2.2.1-4]
    this.#used.add(this.#last);
    return this.#last;
  }

  /** An id for later; 0 if there are none to spare. */
  reserve(): PacketId {
    return this.#used.size < RESERVED_MAX ? this.take() : 0;
  }

  free(packetId: PacketId): void {
    this.#used.delete(packetId);
  }

  /** Notes an id that was found on the disk. */
  restore(packetId: PacketId): void {
    this.#used.add(packetId);
    this.#last = packetId;
  }
}
