import type { PageLimit, Queued } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';

/** The page that one call of `next` returns. The queue fills it in one or more passes. */
export class AnsweredPage {
  readonly entries: Queued[] = [];
  readonly #limit: PageLimit;
  #bytes = 0;

  constructor(limit: PageLimit) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  get left(): PageLimit {
    const messages = Math.max(0, this.#limit.messages - this.entries.length);
    return { messages, bytes: Math.max(0, this.#limit.bytes - this.#bytes) };
  }

  get firstPacketId(): PacketId {
    const [first] = this.entries.filter(({ type }) => type === 'publish');
    return first?.type === 'publish' ? first.delivery.packetId : 0;
  }

  add(queued: Queued, bytes: number): void {
    this.entries.push(queued);
    this.#bytes += bytes;
  }
}
