import type { ConnectionId, Delivery, Message, PushFailure } from '@apus/broker';
import type { Packet } from '@apus/mqtt';
import type { LocalLink } from './local-link.ts';

/** The clients in this process. */
export class LocalLinks {
  readonly #links = new Map<ConnectionId, LocalLink>();

  get(id: ConnectionId): LocalLink | undefined {
    return this.#links.get(id);
  }

  add(link: LocalLink): void {
    this.#links.set(link.id, link);
  }

  remove(link: LocalLink): void {
    this.#links.delete(link.id);
  }

  push(id: ConnectionId | undefined, message: Message, delivery: Delivery): PushFailure | undefined {
    const link = id === undefined ? undefined : this.#links.get(id);
    if (link === undefined || !link.isOpen) return 'gone';
    link.deliver(message, delivery);
    return undefined;
  }

  send(id: ConnectionId, packet: Packet): boolean {
    const link = this.#links.get(id);
    if (link === undefined || link.state.phase !== 'connected') return false;
    link.send(packet);
    return true;
  }
}
