import type { ConnectionId, Connections, Delivery, FailedPush, Message } from '@apus/broker';
import type { DisconnectPacket, Packet } from '@apus/mqtt';
import type { Environment } from '../environment.ts';
import { flush } from '../frames/after.ts';

/**
 * The connections of the gateway door as a broker outside its handlers sees them (the node door, a timer): nothing is
 * gathered, and each call is done when its posts are.
 */
export class PostingConnections implements Connections {
  readonly #environment: () => Environment;

  /** The environment has the broker in it that uses these connections: hence a function. */
  constructor(environment: () => Environment) {
    this.#environment = environment;
  }

  isReady(): boolean {
    return true;
  }

  async publish(
    message: Message,
    deliveries: readonly Delivery[],
  ): Promise<readonly FailedPush[] | undefined> {
    const environment = this.#environment();
    const failed = environment.connections.publish(message, deliveries);
    await flush(environment);
    return failed;
  }

  async send(connectionId: ConnectionId, packet: Packet): Promise<boolean> {
    const environment = this.#environment();
    const isSent = environment.connections.send(connectionId, packet);
    await flush(environment);
    return isSent;
  }

  async close(connectionId: ConnectionId, disconnect: DisconnectPacket | undefined): Promise<void> {
    await this.#environment().connections.close(connectionId, disconnect);
  }
}
