import type { ConnectionId } from '@apus/broker';
import type { NodeLink } from './node-link.ts';

/** The network connections of this node, until each is gone for good. */
export class Links {
  readonly #links = new Map<ConnectionId, NodeLink>();
  #whenEmpty: (() => void)[] = [];

  get size(): number {
    return this.#links.size;
  }

  get(id: ConnectionId): NodeLink | undefined {
    return this.#links.get(id);
  }

  all(): Iterable<NodeLink> {
    return this.#links.values();
  }

  add(link: NodeLink): void {
    this.#links.set(link.id, link);
  }

  remove(link: NodeLink): void {
    this.#links.delete(link.id);
    if (this.#links.size === 0) for (const tell of this.#whenEmpty.splice(0)) tell();
  }

  /** Settles when no connection is left. */
  empty(): Promise<void> {
    if (this.#links.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }
}
