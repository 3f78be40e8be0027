import { generate, type IPublishPacket, type Packet, parser } from 'mqtt-packet';
import { WebSocket } from 'ws';

const PROTOCOL = { protocolVersion: 5 } as const;
const SESSION_EXPIRY_SECONDS = 3600;
const RECONNECT_MS = 20;
/** Little more than are in use at a time, so that each soon names another message. */
const PACKET_ID_MAX = 24;

export type Kept = 1 | 2;

interface Outgoing {
  readonly topic: string;
  readonly payload: string;
  readonly qos: Kept;
  readonly retain: boolean;
  isReleased: boolean;
  readonly acknowledged: () => void;
}

export interface ClientOptions {
  readonly url: string;
  readonly clientId: string;
  /** Subscribed to at QoS 2 on the first connection, and never again. */
  readonly subscribe?: string;
  /** Called for each message, at QoS 2 once. */
  readonly received?: (topic: string, payload: string) => void;
  /** Something that must not happen has happened. */
  readonly failed: (reason: string) => void;
}

/**
 * A client with a session, which keeps MQTT's rules on both sides over any number of connections: it sends again what
 * was not acknowledged, in its old order, and hands on a QoS 2 message once.
 */
export class Client {
  readonly #options: ClientOptions;
  readonly #outgoing = new Map<number, Outgoing>();
  readonly #unreleased = new Set<number>();
  #socket: WebSocket | undefined;
  #isConnected = false;
  #isKnown = false;
  #wantsConnection = false;
  #lastPacketId = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** It has a session, with its subscription. */
  get isDelivered(): boolean {
    return this.#isKnown;
  }

  get unacknowledged(): number {
    return this.#outgoing.size;
  }

  /** Connects, and again whenever the connection is lost. */
  start(): void {
    this.#wantsConnection = true;
    this.#connect();
  }

  /** Cuts the connection, and stays away. */
  vanish(): void {
    this.#wantsConnection = false;
    this.#isConnected = false;
    this.#socket?.terminate();
    this.#socket = undefined;
  }

  /** Sent now if there is a connection, and in any case later until it is acknowledged. */
  publish(topic: string, payload: string, qos: Kept, retain: boolean, acknowledged: () => void): void {
    do this.#lastPacketId = (this.#lastPacketId % PACKET_ID_MAX) + 1;
    while (this.#outgoing.has(this.#lastPacketId));
    const outgoing: Outgoing = { topic, payload, qos, retain, acknowledged, isReleased: false };
    this.#outgoing.set(this.#lastPacketId, outgoing);
    if (this.#isConnected) this.#sendPublish(this.#lastPacketId, outgoing, false);
  }

  #connect(): void {
    const socket = new WebSocket(this.#options.url, ['mqtt']);
    const packets = parser(PROTOCOL);
    this.#socket = socket;
    packets.on('packet', (packet: Packet) => this.#handle(packet));
    packets.on('error', (error: Error) => this.#options.failed(error.message));
    socket.on('open', () => this.#send(this.#connectPacket()));
    // Ignores data on a connection that was cut or is not the last one.
    socket.on('message', (data) => this.#socket === socket && packets.parse(data as Buffer));
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#isConnected = false;
      if (this.#wantsConnection) setTimeout(() => this.#wantsConnection && this.#connect(), RECONNECT_MS);
    });
  }

  #connectPacket(): Packet {
    return {
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 5,
      clean: false,
      clientId: this.#options.clientId,
      keepalive: 0,
      properties: { sessionExpiryInterval: SESSION_EXPIRY_SECONDS, receiveMaximum: 50 },
    };
  }

  #handle(packet: Packet): void {
    switch (packet.cmd) {
      case 'connack':
        this.#connected(packet.sessionPresent, packet.reasonCode);
        break;
      case 'suback':
        this.#isKnown = true;
        break;
      case 'publish':
        this.#received(packet);
        break;
      case 'pubrel':
        this.#unreleased.delete(packet.messageId ?? 0);
        this.#send({ cmd: 'pubcomp', messageId: packet.messageId ?? 0 });
        break;
      case 'pubrec':
        this.#release(packet.messageId ?? 0);
        break;
      case 'puback':
      case 'pubcomp':
        this.#complete(packet.messageId ?? 0);
        break;
    }
  }

  #connected(isPresent: boolean, reasonCode: number | undefined): void {
    const { clientId, subscribe, failed } = this.#options;
    if (reasonCode !== 0) failed(`${clientId} was answered ${reasonCode}`);
    if (this.#isKnown && !isPresent) failed(`the session of ${clientId} is lost`);
    this.#isConnected = true;
    if (subscribe === undefined) this.#isKnown = true;
    else if (!this.#isKnown) {
      this.#send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: subscribe, qos: 2 }] });
    }
    for (const [packetId, outgoing] of this.#outgoing) {
      if (outgoing.isReleased) this.#send({ cmd: 'pubrel', messageId: packetId });
      else this.#sendPublish(packetId, outgoing, true);
    }
  }

  #received({ topic, payload, qos, messageId = 0 }: IPublishPacket): void {
    if (qos !== 2 || !this.#unreleased.has(messageId)) this.#options.received?.(topic, payload.toString());
    if (qos === 1) this.#send({ cmd: 'puback', messageId });
    if (qos !== 2) return;
    this.#unreleased.add(messageId);
    this.#send({ cmd: 'pubrec', messageId });
  }

  #release(packetId: number): void {
    const outgoing = this.#outgoing.get(packetId);
    if (outgoing !== undefined) outgoing.isReleased = true;
    this.#send({ cmd: 'pubrel', messageId: packetId });
  }

  #complete(packetId: number): void {
    const outgoing = this.#outgoing.get(packetId);
    this.#outgoing.delete(packetId);
    outgoing?.acknowledged();
  }

  #sendPublish(messageId: number, { topic, payload, qos, retain }: Outgoing, dup: boolean): void {
    this.#send({ cmd: 'publish', topic, payload, qos, retain, dup, messageId });
  }

  #send(packet: Packet): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(generate(packet, PROTOCOL));
  }
}
