import type { Awaitable, Broker, ConnectionId, Delivery, Link, LinkState, Message, Peer } from '@apus/broker';
import {
  type AcknowledgementPacket,
  type Packet,
  type PacketId,
  type PublishPacket,
  ReasonCode,
  type SubscriptionRequest,
} from '@apus/mqtt';

/** The program at the other end of a local link. It is called in the middle of the broker's work, and must not wait. */
export interface LocalHandler {
  /** Whether it takes more now. Where it does not, QoS 0 is dropped, and QoS 1 and 2 wait until `LocalLink.drain`. */
  isReady(): boolean;
  /**
   * `delivery.packetId` is 0 at QoS 0; otherwise `acknowledge` of this link has to follow. A session that goes on is
   * sent what waits for it before `connect` returns.
   */
  deliver(message: Message, delivery: Delivery, link: LocalLink): void;
  /** The broker has ended the connection: an operator's doing. Not called after `leave`. */
  ended(why: string): void;
}

export interface LocalLinkOptions {
  readonly id: ConnectionId;
  readonly peer: Peer;
  readonly handler: LocalHandler;
  readonly broker: Broker;
  /** It will not be heard of again. */
  readonly gone: (link: LocalLink) => void;
  readonly failed: (error: unknown) => void;
}

/** The answer never came: the connection has ended. */
export class LocalLinkEnded extends Error {
  override readonly name = 'LocalLinkEnded';
}

type Answer = Extract<Packet, { type: 'connack' | 'suback' | 'unsuback' }> | AcknowledgementPacket;

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** Delivered bytes that the broker takes for free where the handler takes more. */
const ROOM_BYTES = 1024 * 1024;
/** The broker's own default: a bridge has nothing to lower. */
const PACKET_ID_MAX = 0xffff;

/** A client in this process: a network connection without a network, over which packets travel as values. */
export class LocalLink implements Link {
  readonly id: ConnectionId;
  readonly peer: Peer;
  state: LinkState = { phase: 'new' };
  readonly #options: LocalLinkOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Calls on the broker: as many at most as packets are unacknowledged in either direction, and a few more. */
  readonly #calls: (() => Awaitable<void>)[] = [];
  #isRunning = false;
  #isClosed = false;
  #isLeaving = false;
  #lastPacketId = 0;
  #why = 'the broker has closed it';

  constructor(options: LocalLinkOptions) {
    this.id = options.id;
    this.peer = options.peer;
    this.#options = options;
  }

  /** CONNECT for a session that goes on, or a new one. True: it was there. */
  async connect(clientId: string, sessionExpiryInterval: number, receiveMaximum: number): Promise<boolean> {
    const answer = await this.#ask('connack', 0, {
      type: 'connect',
      protocolVersion: 5,
      cleanStart: false,
      keepAliveSeconds: 0,
      clientId,
      properties: { sessionExpiryInterval, receiveMaximum },
    });
    if (answer.type !== 'connack' || answer.reasonCode !== ReasonCode.Success)
      throw new LocalLinkEnded(`CONNECT was answered with ${'reasonCode' in answer ? answer.reasonCode : 0}`);
    return answer.sessionPresent;
  }

  async subscribe(subscriptions: readonly SubscriptionRequest[]): Promise<readonly number[]> {
    if (subscriptions.length === 0) return [];
    const packetId = this.#nextPacketId();
    const packet: Packet = { type: 'subscribe', packetId, subscriptions, properties: {} };
    const answer = await this.#ask('suback', packetId, packet);
    return answer.type === 'suback' ? answer.reasonCodes : [];
  }

  async unsubscribe(topicFilters: readonly string[]): Promise<void> {
    if (topicFilters.length === 0) return;
    const packetId = this.#nextPacketId();
    await this.#ask('unsuback', packetId, { type: 'unsubscribe', packetId, topicFilters, properties: {} });
  }

  /** The reason code of PUBACK or PUBREC, which say that the message is durable here; 0 at QoS 0. */
  async publish(packet: Omit<PublishPacket, 'type'>): Promise<number> {
    if (packet.qos === 0) {
      this.#call({ type: 'publish', ...packet, packetId: 0 });
      return ReasonCode.Success;
    }
    const packetId = packet.qos === 1 ? this.#nextPacketId() : packet.packetId;
    const type = packet.qos === 1 ? 'puback' : 'pubrec';
    const answer = await this.#ask(type, packetId, { type: 'publish', ...packet, packetId });
    return 'reasonCode' in answer ? answer.reasonCode : ReasonCode.Success;
  }

  /** PUBREL for a QoS 2 message that was published under this id; done when the id is free again. */
  async release(packetId: PacketId): Promise<void> {
    await this.#ask('pubcomp', packetId, acknowledgement('pubrel', packetId));
  }

  /**
   * The message is where it should be. At QoS 2 PUBREL is answered by itself. On a link that has ended it does nothing:
   * the session's next one is sent the message again, under another packet identifier.
   */
  acknowledge({ qos, packetId }: Pick<Delivery, 'qos' | 'packetId'>): void {
    if (qos > 0 && !this.#isClosed) this.#call(acknowledgement(qos === 1 ? 'puback' : 'pubrec', packetId));
  }

  /** The handler takes more again. */
  drain(): void {
    this.#enqueue(() => this.#options.broker.drain(this));
  }

  /** Ends the connection, and not the session. */
  async leave(): Promise<void> {
    if (this.#isClosed) return;
    this.#isLeaving = true;
    await new Promise<void>((resolve) => {
      this.#enqueue(async () => {
        await this.#options.broker.lost(this, 'the bridge stops');
        this.close();
        resolve();
      });
    });
  }

  /** For the Connections port. */
  isReady(): boolean {
    return this.#options.handler.isReady();
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  deliver(message: Message, delivery: Delivery): void {
    this.#options.handler.deliver(message, delivery, this);
  }

  /** For the broker. */
  roomBytes(): number {
    return this.isReady() ? ROOM_BYTES : 0;
  }

  send(packet: Packet): void {
    switch (packet.type) {
      case 'pubrel':
        this.#call(acknowledgement('pubcomp', packet.packetId));
        break;
      case 'disconnect':
        this.#why = packet.properties.reasonString ?? `DISCONNECT ${packet.reasonCode}`;
        break;
      case 'connack':
        this.#answer(packet, 0);
        break;
      case 'suback':
      case 'unsuback':
      case 'puback':
      case 'pubrec':
      case 'pubcomp':
        this.#answer(packet, packet.packetId);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.gone(this);
    for (const { reject } of this.#waiting.values()) reject(new LocalLinkEnded(this.#why));
    this.#waiting.clear();
    if (!this.#isLeaving) this.#options.handler.ended(this.#why);
  }

  #ask(type: Answer['type'], packetId: PacketId, packet: Packet): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new LocalLinkEnded(this.#why));
      this.#waiting.set(`${type} ${packetId}`, { resolve, reject });
      this.#call(packet);
    });
  }

  #answer(answer: Answer, packetId: PacketId): void {
    const key = `${answer.type} ${packetId}`;
    this.#waiting.get(key)?.resolve(answer);
    this.#waiting.delete(key);
  }

  #call(packet: Packet): void {
    this.#enqueue(() => this.#options.broker.receive(this, packet));
  }

  /** Runs the call when the broker has finished its work for other links: an answer may come while it delivers. */
  #enqueue(call: () => Awaitable<void>): void {
    this.#calls.push(call);
    if (this.#isRunning) return;
    this.#isRunning = true;
    queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    for (let call = this.#calls.shift(); call !== undefined; call = this.#calls.shift()) {
      try {
        const answer = call();
        if (answer instanceof Promise) await answer;
      } catch (error) {
        this.#options.failed(error);
        this.close();
      }
    }
    this.#isRunning = false;
  }

  #nextPacketId(): PacketId {
    this.#lastPacketId = (this.#lastPacketId % PACKET_ID_MAX) + 1;
    return this.#lastPacketId;
  }
}

function acknowledgement(type: AcknowledgementPacket['type'], packetId: PacketId): AcknowledgementPacket {
  return { type, packetId, reasonCode: ReasonCode.Success, properties: {} };
}
