import type {
  Clock,
  ConnectionId,
  Connections,
  Delivery,
  FailedPush,
  Link,
  Message,
  PushFailure,
} from '@apus/broker';
import type { DisconnectPacket, Packet, ProtocolVersion } from '@apus/mqtt';
import type { PreparedPublish } from '../packets/prepared-publish.ts';
import { PublishVariants } from '../packets/publish-variants.ts';
import type { TopicAliases, TopicForm } from '../packets/topic-aliases.ts';

/** Counts of what a link was sent. */
export interface SentCounts {
  sentMessages: number;
  sentQos1: number;
  sentQos2: number;
}

/** A link of a door that buffers, as messages are sent to it. */
export interface BufferedLink extends Pick<Link, 'state' | 'send' | 'close'> {
  readonly isOpen: boolean;
  readonly traffic: SentCounts;
  /** The aliases set towards this client. Undefined: it is not connected, or allows none. */
  readonly outboundAliases: TopicAliases | undefined;
  isReady(): boolean;
  /** Sends the bytes of a packet, with its tail if it has one, and with the Packet Identifier `id` at `idAt`. */
  push(packet: Uint8Array, tail?: Uint8Array, idAt?: number, id?: number): void;
}

/** Clients of this process without a network connection. */
export interface LocalClients {
  get(id: ConnectionId): { isReady(): boolean; send(packet: Packet): void; close(): void } | undefined;
  push(id: ConnectionId | undefined, message: Message, delivery: Delivery): PushFailure | undefined;
  send(id: ConnectionId, packet: Packet): boolean;
}

const NO_CLIENTS: LocalClients = { get: () => undefined, push: () => 'gone', send: () => false };

/** The Connections port over the links of this process. No call waits. */
export class LinkConnections implements Connections {
  readonly #links: { get(id: ConnectionId): BufferedLink | undefined };
  readonly #clock: Clock;
  readonly #locals: LocalClients;

  /** @param locals @default none */
  constructor(
    links: { get(id: ConnectionId): BufferedLink | undefined },
    clock: Clock,
    locals: LocalClients = NO_CLIENTS,
  ) {
    this.#links = links;
    this.#clock = clock;
    this.#locals = locals;
  }

  isReady(connectionId: ConnectionId): boolean {
    return (this.#links.get(connectionId) ?? this.#locals.get(connectionId))?.isReady() ?? true;
  }

  publish(message: Message, deliveries: readonly Delivery[]): readonly FailedPush[] | undefined {
    const variants = new PublishVariants(message, this.#clock.now());
    let failed: FailedPush[] | undefined;
    for (const delivery of deliveries) {
      const failure = this.#push(message, variants, delivery);
      if (failure === undefined) continue;
      failed ??= [];
      failed.push({ delivery, failure });
    }
    return failed;
  }

  send(connectionId: ConnectionId, packet: Packet): boolean {
    const link = this.#links.get(connectionId);
    if (link === undefined) return this.#locals.send(connectionId, packet);
    const version = versionOf(link);
    if (version === undefined || !link.isOpen) return false;
    link.send(packet, version);
    return true;
  }

  close(connectionId: ConnectionId, disconnect: DisconnectPacket | undefined): void {
    const local = this.#locals.get(connectionId);
    if (local !== undefined && disconnect !== undefined) local.send(disconnect);
    local?.close();
    const link = this.#links.get(connectionId);
    if (link === undefined) return;
    // Sent only where CONNACK was: nothing precedes it [MQTT-3.14.0-1].
    if (disconnect !== undefined && versionOf(link) === 5) link.send(disconnect, 5);
    link.close('server');
  }

  #push(message: Message, variants: PublishVariants, delivery: Delivery): PushFailure | undefined {
    const { attachment } = delivery.session;
    const link = attachment && this.#links.get(attachment.connectionId);
    if (attachment === undefined || link === undefined)
      return this.#locals.push(attachment?.connectionId, message, delivery);
    if (!link.isOpen) return 'gone';
    const { topic } = message;
    const { protocolVersion: version, maximumPacketSize } = attachment;
    const form = link.outboundAliases?.formOf(topic);
    const prepared = variants.for(delivery, version, form);
    if (prepared.packetBytes <= maximumPacketSize) {
      if (form !== undefined) link.outboundAliases?.sent(topic, form);
      push(link, prepared, delivery);
      return undefined;
    }
    return this.#pushWithoutAlias(link, variants, delivery, version, maximumPacketSize, form);
  }

  /** A new alias makes the packet larger. A packet that fits only without one is sent without it. */
  #pushWithoutAlias(
    link: BufferedLink,
    variants: PublishVariants,
    delivery: Delivery,
    version: ProtocolVersion,
    maximumPacketSize: number,
    form: TopicForm | undefined,
  ): PushFailure | undefined {
    if (form === undefined || form.known) return 'too-large';
    const prepared = variants.for(delivery, version, undefined);
    // [MQTT-3.1.2-24]
    if (prepared.packetBytes > maximumPacketSize) return 'too-large';
    push(link, prepared, delivery);
    return undefined;
  }
}

function push(link: BufferedLink, prepared: PreparedPublish, delivery: Delivery): void {
  const { traffic } = link;
  traffic.sentMessages += 1;
  if (delivery.qos === 1) traffic.sentQos1 += 1;
  else if (delivery.qos === 2) traffic.sentQos2 += 1;
  link.push(prepared.head, prepared.tail, prepared.packetIdOffset, delivery.packetId);
}

/** Undefined before CONNECT was accepted: nothing is sent then [MQTT-3.14.0-1]. */
function versionOf(link: BufferedLink): ProtocolVersion | undefined {
  return link.state.phase === 'connected' ? link.state.connection.protocolVersion : undefined;
}
