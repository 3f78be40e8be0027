import type { Awaitable, Broker, ConnectionId, Delivery, Link, LinkState, Message, Peer } from '@apus/broker';
import {
  type AcknowledgementPacket,
  type Packet,
  type PacketId,
  type PublishPacket,
  ReasonCode,
  type SubscriptionRequest,
} from '@apus/mqtt';

/** The program at the other end of a local link. It is called while the broker works, and must not wait. */
export interface LocalHandler {
  /** Whether it takes more now. If not, QoS 0 is dropped, and QoS 1 and 2 wait until `LocalLink.drain`. */
  isReady(): boolean;
  /**
   * `delivery.packetId` is 0 at QoS 0; otherwise `acknowledge` of this link has to follow. A resumed session is sent
   * its waiting messages before `connect` returns.
   */
  deliver(message: Message, delivery: Delivery, link: LocalLink): void;
  /** The broker has ended the connection, for an operator. Not called after `leave`. */
  ended(why: string): void;
}

export interface LocalLinkOptions {
  readonly id: ConnectionId;
  readonly peer: Peer;
  readonly handler: LocalHandler;
  readonly broker: Broker;
  /** Called once, at the end of the link. */
  readonly gone: (link: LocalLink) => void;
  readonly failed: (error: unknown) => void;
}

/** No answer came: the connection has ended. */
export class LocalLinkEnded extends Error {
  override readonly name = 'LocalLinkEnded';
}

type Answer = Extract<Packet, { type: 'connack' | 'suback' | 'unsuback' }> | AcknowledgementPacket;

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** Bytes that the broker may deliver while the handler is ready. */
const ROOM_BYTES = 1024 * 1024;
/** The broker's own default: a bridge has nothing to lower. */
const PACKET_ID_MAX = 0xffff;

/** A client in this process: a connection without a network, over which packets travel as values. */
export class LocalLink implements Link {
  readonly id: ConnectionId;
  readonly peer: Peer;
  state: LinkState = { phase: 'new' };
  readonly #options: LocalLinkOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Calls on the broker: at most as many as packets are unacknowledged in either direction, and a few more. */
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

  /** CONNECT for a session that continues, or a new one. True: the session was present. */
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

  /** Returns the reason code of PUBACK or PUBREC: the message is durable here. 0 at QoS 0. */
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

  /** PUBREL for a QoS 2 message that was published under this id. Resolves when the id is free. */
  async release(packetId: PacketId): Promise<void> {
    await this.#ask('pubcomp', packetId, acknowledgement('pubrel', packetId));
  }

  /**
   * The handler is done with the message. At QoS 2 the link itself answers PUBREL. On an ended link this does nothing:
   * the next link of the session is sent the message again, under another packet id.
   */
  acknowledge({ qos, packetId }: Pick<Delivery, 'qos' | 'packetId'>): void {
    if (qos > 0 && !this.#isClosed) this.#call(acknowledgement(qos === 1 ? 'puback' : 'pubrec', packetId));
  }

  /** The handler takes more again. */
  drain(): void {
    this.#enqueue(() => this.#options.broker.drain(this));
  }

  /** Ends the connection; the session stays. */
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

  /** Called by the Connections port. */
  isReady(): boolean {
    return this.#options.handler.isReady();
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  deliver(message: Message, delivery: Delivery): void {
    this.#options.handler.deliver(message, delivery, this);
  }

  /** Called by the broker. */
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
