import {
  type Clock,
  type ConnectionId,
  type Connections,
  type Delivery,
  type FailedPush,
  type LinkStore,
  type Message,
  remainingSeconds,
} from '@apus/broker';
import {
  type DisconnectPacket,
  type EncodedPublish,
  encodePacket,
  encodePublish,
  type Packet,
  type ProtocolVersion,
  type PublishProperties,
  withPacketId,
} from '@apus/mqtt';
import type { PacketsOut } from '../frames/packets-out.ts';
import { formatPush, SERVER_FRAME_BYTES_MAX } from '../frames/text-frame.ts';
import type { GatheredPosts } from '../posts/gathered-posts.ts';
import type { Poster } from '../posts/poster.ts';
import { endAll } from './lose.ts';

export interface GatewayConnectionsOptions {
  readonly posts: GatheredPosts;
  /** The connection whose frame is handled, and the packets of its reply. */
  readonly own: { readonly id: ConnectionId; readonly out: PacketsOut } | undefined;
  readonly poster: Poster;
  readonly links: LinkStore;
  readonly clock: Clock;
}

/**
 * The Connections port of one event. A packet for the connection whose frame is handled goes into the reply, which
 * costs no call. Packets for other connections are gathered, and posted when the frame has been handled, before the
 * reply.
 */
export class GatewayConnections implements Connections {
  readonly #options: GatewayConnectionsOptions;

  constructor(options: GatewayConnectionsOptions) {
    this.#options = options;
  }

  /** Nothing is buffered here: a client is slow when the gateway refuses a post. */
  isReady(): boolean {
    return true;
  }

  isPageUnderWay(connectionId: ConnectionId): boolean {
    return this.#options.poster.isPageUnderWay?.(connectionId) ?? false;
  }

  publish(message: Message, deliveries: readonly Delivery[]): readonly FailedPush[] | undefined {
    const encodings = new Map<string | number, EncodedPublish>();
    const failed: FailedPush[] = [];
    for (const delivery of deliveries) {
      const { attachment } = delivery.session;
      if (attachment === undefined) {
        failed.push({ delivery, failure: 'gone' });
        continue;
      }
      const encoded = this.#encode(message, delivery, attachment.protocolVersion, encodings);
      const bytesMax = Math.min(attachment.maximumPacketSize, SERVER_FRAME_BYTES_MAX);
      // [MQTT-3.1.2-24]
      if (encoded.bytes.length > bytesMax) failed.push({ delivery, failure: 'too-large' });
      else
        this.#push(attachment.connectionId, withPacketId(encoded, delivery.packetId), mustArrive(delivery));
    }
    return failed.length === 0 ? undefined : failed;
  }

  /** Called only for clients of MQTT 5.0. */
  send(connectionId: ConnectionId, packet: Packet): boolean {
    this.#push(connectionId, encodePacket(packet, 5), true);
    return true;
  }

  /**
   * Ends the connection first, so that every handler refuses its frames. Then tells the client, and closes its socket.
   */
  async close(connectionId: ConnectionId, disconnect: DisconnectPacket | undefined): Promise<void> {
    const { links, poster } = this.#options;
    let ended: readonly ConnectionId[] = [connectionId];
    try {
      ended = await endAll(links, connectionId);
      const push = disconnect && formatPush(encodePacket(disconnect, 5));
      if (push !== undefined) for (const each of ended) await poster.post(each, push, false);
    } finally {
      // If the store is unavailable, $disconnect writes the tombstone: this method is not called again for the
      // connection.
      for (const each of ended) await poster.delete(each);
    }
  }

  #push(connectionId: ConnectionId, packet: Uint8Array, mustArrive: boolean): void {
    const { own, posts, poster } = this.#options;
    if (connectionId === own?.id) own.out.push(packet, mustArrive);
    else {
      poster.willPost?.(connectionId);
      posts.push(connectionId, packet, mustArrive);
    }
  }

  #encode(
    message: Message,
    delivery: Delivery,
    version: ProtocolVersion,
    encodings: Map<string | number, EncodedPublish>,
  ): EncodedPublish {
    const { qos, retain, dup, packetId, subscriptionIdentifiers } = delivery;
    const key = keyOf(version, delivery);
    let encoded = encodings.get(key);
    if (encoded === undefined) {
      const { topic, payload } = message;
      const properties = propertiesOf(message, subscriptionIdentifiers, this.#options.clock.now());
      encoded = encodePublish(
        { type: 'publish', topic, payload, qos, retain, dup, packetId, properties },
        version,
      );
      encodings.set(key, encoded);
    }
    return encoded;
  }
}

/** A reader of a stream has no queue that would send a missing message again. */
function mustArrive({ qos, mustArrive = false }: Delivery): boolean {
  return qos > 0 || mustArrive;
}

/** A key for packets that differ only in their packet ids. A number if possible: it is made for each delivery. */
function keyOf(
  version: ProtocolVersion,
  { qos, retain, dup, subscriptionIdentifiers }: Delivery,
): string | number {
  const flags = (version === 5 ? 16 : 0) + (retain ? 8 : 0) + (dup ? 4 : 0) + qos;
  return subscriptionIdentifiers === undefined ? flags : `${flags} ${subscriptionIdentifiers.join()}`;
}

function propertiesOf(
  { properties, expiresAtMs }: Message,
  subscriptionIdentifiers: readonly number[] | undefined,
  nowMs: number,
): PublishProperties {
  const messageExpiryInterval =
    expiresAtMs === undefined ? undefined : Math.max(1, remainingSeconds(expiresAtMs, nowMs));
  return {
    ...properties,
    // [MQTT-3.3.2-6]
    ...(messageExpiryInterval !== undefined && { messageExpiryInterval }),
    ...(subscriptionIdentifiers !== undefined && { subscriptionIdentifiers }),
  };
}
