import type { ConnectionId } from '@apus/broker';
import type { BytesHolder } from './bytes-budget.ts';
import type { NodeLink } from './node-link.ts';

export interface LinkBytes {
  receivedBytes: number;
  sentBytes: number;
}

/** The network connections of this node, until each is gone for good. */
export class Links {
  readonly #links = new Map<ConnectionId, NodeLink>();
  #whenEmpty: (() => void)[] = [];
  /** Bytes of ended connections. */
  readonly #ended = { receivedBytes: 0, sentBytes: 0 };

  get size(): number {
    return this.#links.size;
  }

  get(id: ConnectionId): NodeLink | undefined {
    return this.#links.get(id);
  }

  all(): Iterable<NodeLink> {
    return this.#links.values();
  }

  *outbound(): Iterable<BytesHolder> {
    for (const link of this.#links.values()) yield link.outbound;
  }

  add(link: NodeLink): void {
    this.#links.set(link.id, link);
  }

  remove(link: NodeLink): void {
    if (this.#links.delete(link.id)) addBytes(this.#ended, link);
    if (this.#links.size === 0) for (const tell of this.#whenEmpty.splice(0)) tell();
  }

  /** MQTT bytes of all connections since the start. */
  get bytes(): LinkBytes {
    const bytes = { ...this.#ended };
    for (const link of this.#links.values()) addBytes(bytes, link);
    return bytes;
  }

  /** Resolves when no connection is left. */
  empty(): Promise<void> {
    if (this.#links.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }
}

function addBytes(to: LinkBytes, { traffic }: NodeLink): void {
  to.receivedBytes += traffic.receivedBytes;
  to.sentBytes += traffic.sentBytes;
}
