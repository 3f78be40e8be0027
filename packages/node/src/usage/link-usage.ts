import type { UsageCounts } from '@apus/broker';
import type { NodeLink } from '../node-link.ts';

/** The part of a connection's traffic that has been counted for its tenant. */
interface Counted {
  atMs: number;
  receivedMessages: number;
  receivedBytes: number;
  sentMessages: number;
  sentQos1: number;
  sentQos2: number;
  sentBytes: number;
}

/** The usage of connections since the last look. A connection counts its traffic for its operator anyway. */
export class LinkUsage {
  readonly #counted = new Map<NodeLink, Counted>();

  /** Since the last call for this connection, or since its handshake. */
  take(link: NodeLink, nowMs: number): Partial<UsageCounts> {
    const { traffic } = link;
    const before = this.#counted.get(link) ?? fresh(link.openedAtMs);
    const qos1 = traffic.sentQos1 - before.sentQos1;
    const qos2 = traffic.sentQos2 - before.sentQos2;
    const used = {
      connectionMs: Math.max(0, nowMs - before.atMs),
      messagesIn: traffic.receivedMessages - before.receivedMessages,
      bytesIn: traffic.receivedBytes - before.receivedBytes,
      messagesOutQos0: traffic.sentMessages - before.sentMessages - qos1 - qos2,
      messagesOutQos1: qos1,
      messagesOutQos2: qos2,
      bytesOut: traffic.sentBytes - before.sentBytes,
    };
    this.#counted.set(link, { ...traffic, atMs: nowMs });
    return used;
  }

  forget(link: NodeLink): void {
    this.#counted.delete(link);
  }
}

function fresh(atMs: number): Counted {
  return {
    ...{ atMs, receivedMessages: 0, receivedBytes: 0 },
    ...{ sentMessages: 0, sentQos1: 0, sentQos2: 0, sentBytes: 0 },
  };
}
