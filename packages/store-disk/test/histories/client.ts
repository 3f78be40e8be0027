import {
  type AcknowledgementPacket,
  type Packet,
  type PublishPacket,
  type QoS,
  ReasonCode,
} from '@apus/mqtt';

const HOUR_SECONDS = 3600;
const RECEIVE_MAXIMUM = 10;
const SUBSCRIBE_ID = 1000;
/** Few, so that each soon names another message. */
const PACKET_ID_MAX = 7;

interface Outgoing {
  readonly topic: string;
  readonly payload: string;
  readonly qos: QoS;
  isReleased: boolean;
}

export interface ClientOptions {
  readonly clientId: string;
  /** @default 10 */
  readonly receiveMaximum?: number;
  /** Subscribed to on the first connection. */
  readonly subscribe?: { readonly topicFilter: string; readonly qos: QoS };
  /** Called for each message, at QoS 2 once. */
  readonly received?: (payload: string) => void;
  /** @default an hour. 0: each connection has a session of its own */
  readonly expirySeconds?: number;
  /** Each connection has a will, whose payload names the client and the connection. */
  readonly hasWill?: boolean;
  /** Called when a connection begins. */
  readonly connected?: () => void;
  /** Called for each message that was not acknowledged when its session ended: it is not published again. */
  readonly abandoned?: (payload: string) => void;
}

/**
 * A client with a session, which keeps MQTT's rules on both sides over any number of connections. Its packets are lists:
 * the test carries them.
 */
export class HistoryClient {
  readonly clientId: string;
  /** Packets on their way to the broker. */
  outbound: Packet[] = [];
  readonly #options: ClientOptions;
  readonly #outgoing = new Map<number, Outgoing>();
  readonly #unreleased = new Set<number>();
  /** Packet ids that have come on this connection. */
  readonly #onConnection = new Set<number>();
  #isConnected = false;
  #hasSession = false;
  #lastPacketId = 0;
  #connections = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.clientId = options.clientId;
  }

  get unacknowledged(): number {
    return this.#outgoing.size;
  }

  /** The payload of the last connection's will. */
  get will(): string {
    return `will ${this.clientId} ${this.#connections}`;
  }

  connect(): void {
    const { expirySeconds = HOUR_SECONDS, receiveMaximum = RECEIVE_MAXIMUM, hasWill } = this.#options;
    this.#isConnected = false;
    this.#connections += 1;
    this.#onConnection.clear();
    this.outbound = [
      {
        type: 'connect',
        protocolVersion: 5,
        cleanStart: false,
        keepAliveSeconds: 0,
        clientId: this.clientId,
        properties: { sessionExpiryInterval: expirySeconds, receiveMaximum },
        ...(hasWill === true && {
          will: { topic: 'will', payload: Buffer.from(this.will), qos: 2, retain: false, properties: {} },
        }),
      },
    ];
  }

  cut(): void {
    this.#isConnected = false;
    this.outbound = [];
  }

  publish(topic: string, payload: string, qos: QoS): void {
    do this.#lastPacketId = (this.#lastPacketId % PACKET_ID_MAX) + 1;
    while (this.#outgoing.has(this.#lastPacketId));
    const outgoing = { topic, payload, qos, isReleased: false };
    this.#outgoing.set(this.#lastPacketId, outgoing);
    if (this.#isConnected) this.outbound.push(publishOf(this.#lastPacketId, outgoing, false));
  }

  receive(packet: Packet): void {
    const reasonCode = 'reasonCode' in packet ? packet.reasonCode : ReasonCode.Success;
    if (reasonCode >= 0x80)
      throw new Error(`${this.clientId} was answered ${packet.type} with ${reasonCode}`);
    if (packet.type === 'connack') this.#connected(packet.sessionPresent);
    else if (packet.type === 'suback') this.#hasSession = this.#options.expirySeconds !== 0;
    else if (packet.type === 'publish') this.#receivePublish(packet);
    else if (packet.type === 'pubrel') this.#receivePubrel(packet.packetId);
    else if (packet.type === 'pubrec') this.#release(packet.packetId);
    else if (packet.type === 'puback' || packet.type === 'pubcomp') this.#outgoing.delete(packet.packetId);
    else throw new Error(`${this.clientId} was sent ${packet.type}`);
  }

  #connected(isPresent: boolean): void {
    if (this.#hasSession && !isPresent) throw new Error(`the session of ${this.clientId} is lost`);
    const { subscribe, expirySeconds, connected } = this.#options;
    if (!isPresent) this.#unreleased.clear();
    if (expirySeconds === 0) this.#abandon();
    this.#isConnected = true;
    connected?.();
    if (subscribe === undefined) this.#hasSession = expirySeconds !== 0;
    else if (!this.#hasSession)
      this.outbound.push({
        type: 'subscribe',
        packetId: SUBSCRIBE_ID,
        subscriptions: [{ ...subscribe, noLocal: false, retainAsPublished: false, retainHandling: 0 }],
        properties: {},
      });
    for (const [packetId, outgoing] of this.#outgoing) {
      if (outgoing.isReleased) this.#answer('pubrel', packetId);
      else this.outbound.push(publishOf(packetId, outgoing, true));
    }
  }

  #abandon(): void {
    for (const { payload, isReleased } of this.#outgoing.values())
      if (!isReleased) this.#options.abandoned?.(payload);
    this.#outgoing.clear();
  }

  #receivePublish({ payload, qos, packetId }: PublishPacket): void {
    if (qos !== 2 || !this.#unreleased.has(packetId))
      this.#options.received?.(Buffer.from(payload).toString());
    if (qos === 2) this.#unreleased.add(packetId);
    this.#answer(qos === 1 ? 'puback' : 'pubrec', packetId);
    this.#onConnection.add(packetId);
    this.#checkWindow();
  }

  /** [MQTT-3.3.4-9] */
  #checkWindow(): void {
    const { receiveMaximum = RECEIVE_MAXIMUM } = this.#options;
    const completing = new Set(this.outbound.filter(isCompleting).map(({ packetId }) => packetId));
    const open = [...this.#onConnection].filter((id) => this.#unreleased.has(id) || completing.has(id));
    if (open.length > receiveMaximum) throw new Error(`${this.clientId} was sent ${open.length} at a time`);
  }

  #receivePubrel(packetId: number): void {
    this.#unreleased.delete(packetId);
    this.#answer('pubcomp', packetId);
  }

  #release(packetId: number): void {
    const outgoing = this.#outgoing.get(packetId);
    if (outgoing !== undefined) outgoing.isReleased = true;
    this.#answer('pubrel', packetId);
  }

  #answer(type: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp', packetId: number): void {
    this.outbound.push({ type, packetId, reasonCode: 0, properties: {} });
  }
}

function isCompleting(packet: Packet): packet is AcknowledgementPacket {
  return packet.type === 'puback' || packet.type === 'pubcomp';
}

function publishOf(packetId: number, { topic, payload, qos }: Outgoing, dup: boolean): PublishPacket {
  return {
    type: 'publish',
    topic,
    payload: Buffer.from(payload),
    qos,
    retain: false,
    dup,
    packetId,
    properties: {},
  };
}
