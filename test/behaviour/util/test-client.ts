import { expect } from 'vitest';
import { RawClient, type Received } from '../../support/raw-client.ts';
import { unique } from '../../support/unique.ts';

type QoS = 0 | 1 | 2;

/** A PUBLISH as a subscriber sees it. */
export interface Message {
  readonly topic: string;
  /** The payload read as UTF-8. */
  readonly payload: string;
  readonly payloadBytes: Buffer;
  readonly qos: QoS;
  readonly retain: boolean;
  readonly dup: boolean;
  readonly messageId: number | undefined;
  /** Empty where the packet has none. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** The packet as it came. */
  readonly wire: Buffer;
}

export interface SubscriptionOptions {
  qos?: QoS;
  /** No Local. */
  nl?: boolean;
  /** Retain As Published. */
  rap?: boolean;
  /** Retain Handling. */
  rh?: 0 | 1 | 2;
}

export interface Subscription extends SubscriptionOptions {
  topic: string;
}

/** Fields of PUBLISH besides topic and payload, in `mqtt-packet`'s names. */
export interface PublishFields {
  qos?: QoS;
  retain?: boolean;
  dup?: boolean;
  messageId?: number;
  properties?: Readonly<Record<string, unknown>>;
}

/** Acknowledgement of a PUBLISH: the PUBACK, or the PUBREC when that ends the exchange, or the PUBCOMP. */
export interface Acknowledgement {
  readonly cmd: string;
  readonly messageId: number;
  /** Undefined in MQTT 3.1.1. */
  readonly reasonCode: number | undefined;
}

/**
 * A well-behaved client for the parts of a test that are not its point: it numbers its packets, waits for
 * acknowledgements and acknowledges what it is told to receive. `raw` is there for everything else.
 */
export class TestClient {
  readonly raw: RawClient;
  readonly connack: Received;
  readonly clientId: string;
  readonly version: 3 | 4 | 5;
  /** Packets that came while another one was awaited. */
  readonly #early: Received[] = [];
  #lastPacketId = 0;

  private constructor(raw: RawClient, connack: Received, clientId: string, version: 3 | 4 | 5) {
    this.raw = raw;
    this.connack = connack;
    this.clientId = clientId;
    this.version = version;
  }

  /** Connects with fields of CONNECT in `mqtt-packet`'s names; the client identifier is a fresh one unless given. */
  static async connect(url: string, fields: Record<string, unknown> = {}): Promise<TestClient> {
    const clientId = (fields.clientId as string | undefined) ?? unique('c');
    const { client, connack } = await RawClient.connect(url, { ...fields, clientId });
    expect(connack.reasonCode ?? connack.returnCode).toBe(0);
    return new TestClient(client, connack, clientId, (fields.protocolVersion as 3 | 4 | 5 | undefined) ?? 5);
  }

  nextPacketId(): number {
    this.#lastPacketId += 1;
    return this.#lastPacketId;
  }

  /** Subscribes and returns the codes of the SUBACK, one for each filter. */
  async subscribe(
    filters: string | readonly (string | Subscription)[],
    options: SubscriptionOptions & { identifier?: number } = {},
  ): Promise<number[]> {
    const { identifier, ...common } = options;
    const list = typeof filters === 'string' ? [filters] : filters;
    const messageId = this.nextPacketId();
    this.raw.send({
      cmd: 'subscribe',
      messageId,
      subscriptions: list.map((filter) => ({
        qos: 0,
        ...common,
        ...(typeof filter === 'string' ? { topic: filter } : filter),
      })),
      ...(identifier !== undefined && { properties: { subscriptionIdentifier: identifier } }),
    });
    return (await this.take('suback', messageId)).granted as number[];
  }

  /** Unsubscribes and returns the codes of the UNSUBACK; undefined in MQTT 3.1.1, which has none. */
  async unsubscribe(...filters: string[]): Promise<number[] | undefined> {
    const messageId = this.nextPacketId();
    this.raw.send({ cmd: 'unsubscribe', messageId, unsubscriptions: filters });
    return (await this.take('unsuback', messageId)).granted as number[] | undefined;
  }

  /** Sends a PUBLISH and waits for nothing. Returns its packet identifier. */
  sendPublish(topic: string, payload: string | Buffer, fields: PublishFields = {}): number {
    const qos = fields.qos ?? 0;
    const messageId = fields.messageId ?? (qos > 0 ? this.nextPacketId() : 0);
    this.raw.send({ cmd: 'publish', retain: false, dup: false, ...fields, topic, payload, qos, messageId });
    return messageId;
  }

  /**
   * Publishes and returns when the broker has finished with it: after PUBACK or PUBCOMP, at QoS 0 after the answer
   * to a PINGREQ.
   */
  async publish(
    topic: string,
    payload: string | Buffer,
    fields: PublishFields = {},
  ): Promise<Acknowledgement | undefined> {
    const messageId = this.sendPublish(topic, payload, fields);
    if (fields.qos === 1) return this.#acknowledgement('puback', messageId);
    if (fields.qos === 2) return this.#finishQoS2(messageId);
    await this.ping();
    return undefined;
  }

  async #finishQoS2(messageId: number): Promise<Acknowledgement> {
    const pubrec = await this.#acknowledgement('pubrec', messageId);
    if ((pubrec.reasonCode ?? 0) >= 0x80) return pubrec;
    this.raw.send({ cmd: 'pubrel', messageId });
    return this.#acknowledgement('pubcomp', messageId);
  }

  async #acknowledgement(cmd: string, messageId: number): Promise<Acknowledgement> {
    const packet = await this.take(cmd, messageId);
    return { cmd, messageId, reasonCode: packet.reasonCode as number | undefined };
  }

  /** Returns when the broker has handled everything this client sent before. */
  async ping(): Promise<void> {
    this.raw.send({ cmd: 'pingreq' });
    await this.take('pingresp');
  }

  /** The next message, acknowledged as its QoS asks. */
  async receive(): Promise<Message> {
    const message = await this.receiveUnacknowledged();
    await this.acknowledge(message);
    return message;
  }

  async receiveUnacknowledged(): Promise<Message> {
    return this.#asMessage(await this.take('publish'));
  }

  /** The next `count` messages, unacknowledged. */
  async receiveMany(count: number): Promise<Message[]> {
    const messages: Message[] = [];
    while (messages.length < count) messages.push(await this.receiveUnacknowledged());
    return messages;
  }

  /** A message that came while another packet was awaited; undefined when there is none. */
  takeEarly(): Message | undefined {
    const index = this.#early.findIndex(({ cmd }) => cmd === 'publish');
    const packet = index < 0 ? undefined : this.#early.splice(index, 1)[0];
    return packet && this.#asMessage(packet);
  }

  async acknowledge({ qos, messageId }: Pick<Message, 'qos' | 'messageId'>): Promise<void> {
    if (qos === 1) this.raw.send({ cmd: 'puback', messageId });
    if (qos !== 2) return;
    this.raw.send({ cmd: 'pubrec', messageId });
    await this.take('pubrel', messageId);
    this.raw.send({ cmd: 'pubcomp', messageId });
  }

  /** The next packet of this type (and packet identifier); others wait until the test takes them. */
  async take(cmd: string, messageId?: number): Promise<Received> {
    const isWanted = (packet: Received) =>
      packet.cmd === cmd && (messageId === undefined || packet.messageId === messageId);
    const index = this.#early.findIndex(isWanted);
    const early = index < 0 ? undefined : this.#early.splice(index, 1)[0];
    if (early !== undefined) return early;
    for (;;) {
      const packet = await this.#nextOr(cmd);
      if (isWanted(packet)) return packet;
      if (packet.cmd === 'disconnect') throw new Error(`expected ${cmd}, received ${JSON.stringify(packet)}`);
      this.#early.push(packet);
    }
  }

  async #nextOr(wanted: string): Promise<Received> {
    try {
      return await this.raw.next();
    } catch (cause) {
      const others = this.#early.map(({ cmd }) => cmd).join(', ') || 'nothing';
      throw new Error(`expected ${wanted}, received ${others}`, { cause });
    }
  }

  /** Proves that nothing has come and that nothing is on its way; see `RawClient.expectNothing`. */
  async expectNothing(): Promise<void> {
    expect(this.#early.map((packet) => this.#describe(packet))).toEqual([]);
    await this.raw.expectNothing();
  }

  /** The broker refuses: DISCONNECT with one of these codes in MQTT 5.0, and the close of the connection. */
  async expectRefused(...reasonCodes: number[]): Promise<void> {
    if (this.version === 5) {
      const disconnect = await this.raw.expect('disconnect');
      expect(reasonCodes).toContain(disconnect.reasonCode);
    }
    await this.raw.expectClose();
    await expect(this.raw.next()).rejects.toThrow('the connection closed');
  }

  /** Sends DISCONNECT and returns when the broker has closed the connection: the session is offline now. */
  async disconnect(properties?: Readonly<Record<string, unknown>>): Promise<void> {
    await this.raw.disconnect(properties === undefined ? {} : { properties });
  }

  #describe(packet: Received): unknown {
    return packet.cmd === 'publish' ? this.#asMessage(packet) : packet;
  }

  #asMessage(packet: Received): Message {
    const payloadBytes = packet.payload as Buffer;
    return {
      topic: packet.topic as string,
      payload: payloadBytes.toString(),
      payloadBytes,
      qos: packet.qos as QoS,
      retain: packet.retain as boolean,
      dup: packet.dup as boolean,
      messageId: packet.messageId as number | undefined,
      properties: (packet.properties as Record<string, unknown> | undefined) ?? {},
      wire: this.raw.bytesOf(packet),
    };
  }
}
