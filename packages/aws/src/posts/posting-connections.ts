import type { ConnectionId, Connections, Delivery, FailedPush, Message } from '@apus/broker';
import type { DisconnectPacket, Packet } from '@apus/mqtt';
import type { Environment } from '../environment.ts';
import { inOneEvent } from '../outbox.ts';

/**
 * The connections of the gateway door for a broker outside its handlers (the node door, a timer): it gathers nothing,
 * and a call is done when its posts are.
 */
export class PostingConnections implements Connections {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  isReady(): boolean {
    return true;
  }

  isPageUnderWay(connectionId: ConnectionId): boolean {
    return this.#environment.poster.isPageUnderWay?.(connectionId) ?? false;
  }

  async publish(
    message: Message,
    deliveries: readonly Delivery[],
  ): Promise<readonly FailedPush[] | undefined> {
    return await inOneEvent(this.#environment, ({ connections }) => connections.publish(message, deliveries));
  }

  async send(connectionId: ConnectionId, packet: Packet): Promise<boolean> {
    return await inOneEvent(this.#environment, ({ connections }) => connections.send(connectionId, packet));
  }

  async close(connectionId: ConnectionId, disconnect: DisconnectPacket | undefined): Promise<void> {
    await inOneEvent(this.#environment, ({ connections }) => connections.close(connectionId, disconnect));
  }
}
