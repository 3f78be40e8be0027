import type { Awaitable, ConnectionId, Connections, Delivery, FailedPush, Message } from '@apus/broker';
import type { DisconnectPacket, Packet } from '@apus/mqtt';
import type { NodeConnections } from './connections.ts';

/** The connections of both doors as one port: a message for clients of both leaves through both. */
export class DoorConnections implements Connections {
  readonly #node: NodeConnections;
  readonly #gateway: Connections;

  constructor(node: NodeConnections, gateway: Connections) {
    this.#node = node;
    this.#gateway = gateway;
  }

  isReady(connectionId: ConnectionId): boolean {
    return this.#doorOf(connectionId).isReady(connectionId);
  }

  isPageUnderWay(connectionId: ConnectionId): boolean {
    return !this.#node.owns(connectionId) && this.#gateway.isPageUnderWay?.(connectionId) === true;
  }

  publish(message: Message, deliveries: readonly Delivery[]): Awaitable<readonly FailedPush[] | undefined> {
    const here: Delivery[] = [];
    const there: Delivery[] = [];
    for (const delivery of deliveries) {
      const id = delivery.session.attachment?.connectionId;
      (id === undefined || this.#node.owns(id) ? here : there).push(delivery);
    }
    if (there.length === 0) return this.#node.publish(message, here);
    const failed = here.length === 0 ? undefined : this.#node.publish(message, here);
    const posted = this.#gateway.publish(message, there);
    if (posted instanceof Promise) return posted.then((others) => joined(failed, others));
    return joined(failed, posted);
  }

  send(connectionId: ConnectionId, packet: Packet): Awaitable<boolean> {
    return this.#doorOf(connectionId).send(connectionId, packet);
  }

  close(connectionId: ConnectionId, disconnect: DisconnectPacket | undefined): Awaitable<void> {
    return this.#doorOf(connectionId).close(connectionId, disconnect);
  }

  #doorOf(connectionId: ConnectionId): Connections {
    return this.#node.owns(connectionId) ? this.#node : this.#gateway;
  }
}

function joined(
  one: readonly FailedPush[] | undefined,
  other: readonly FailedPush[] | undefined,
): readonly FailedPush[] | undefined {
  return one === undefined ? other : other === undefined ? one : [...one, ...other];
}
