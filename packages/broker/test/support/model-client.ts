import type { Packet, PublishPacket, QoS } from '@apus/mqtt';
import type { FakeDoor, FakeLink } from './fake-door.ts';

export interface Receipt {
  readonly payload: string;
  readonly qos: QoS;
}

/**
 * A client that keeps MQTT's rules as a receiver: it acknowledges when it is told to, remembers the packet ids of
 * QoS 2 across connections, and counts what it holds unacknowledged against its Receive Maximum.
 */
export class ModelClient {
  readonly clientId: string;
  readonly receiveMaximum: number;
  /** The messages that the application got, in order: QoS 1 may repeat, QoS 0 and 2 may not. */
  readonly receipts: Receipt[] = [];
  link: FakeLink | undefined;
  readonly #door: FakeDoor;
  readonly #unreleased = new Set<number>();
  #outstanding = new Map<number, QoS>();
  #packetId = 0;

  constructor(door: FakeDoor, clientId: string, receiveMaximum: number) {
    this.#door = door;
    this.clientId = clientId;
    this.receiveMaximum = receiveMaximum;
  }

  async connect(cleanStart: boolean, sessionExpiryInterval: number): Promise<boolean> {
    if (this.link !== undefined) await this.cut();
    const { clientId, receiveMaximum } = this;
    const properties = { sessionExpiryInterval, receiveMaximum };
    this.link = await this.#door.connect({ clientId, cleanStart, properties });
    this.#outstanding = new Map();
    const [connack, ...rest] = this.link.take();
    if (connack?.type !== 'connack') throw new Error(`expected CONNACK first, got ${connack?.type}`);
    if (!connack.sessionPresent) this.#unreleased.clear();
    this.#pending.push(...rest);
    return connack.sessionPresent;
  }

  #pending: Packet[] = [];

  async cut(): Promise<void> {
    this.receive();
    this.#pending = [];
    const { link } = this;
    this.link = undefined;
    if (link !== undefined) await this.#door.cut(link);
  }

  async subscribe(topicFilter: string, qos: QoS): Promise<void> {
    if (this.link !== undefined) await this.#door.subscribe(this.link, topicFilter, qos);
  }

  async unsubscribe(topicFilter: string): Promise<void> {
    if (this.link === undefined) return;
    const topicFilters = [topicFilter];
    await this.#door.broker.receive(this.link, {
      type: 'unsubscribe',
      packetId: 1,
      topicFilters,
      properties: {},
    });
  }

  /** Publishes, and at QoS 2 releases the packet id at once. */
  async publish(topic: string, payload: string, qos: QoS, retain: boolean): Promise<void> {
    if (this.link === undefined) return;
    this.#packetId = (this.#packetId % 1000) + 1;
    const packetId = qos === 0 ? 0 : this.#packetId;
    await this.#door.publish(this.link, topic, payload, { qos, retain, packetId });
    if (qos === 2) await this.#send('pubrel', packetId);
  }

  /** Reads what has come, without answering; the application gets it now. */
  receive(): void {
    if (this.link === undefined) return;
    this.#pending.push(...this.link.take());
    for (const packet of this.#pending) if (packet.type === 'publish') this.#read(packet);
    this.#pending = this.#pending.filter(({ type }) => type === 'publish' || type === 'pubrel');
    this.#unanswered.push(...this.#pending);
    this.#pending = [];
  }

  #unanswered: Packet[] = [];

  #read(packet: PublishPacket): void {
    const { qos, packetId } = packet;
    const payload = Buffer.from(packet.payload).toString();
    if (qos > 0) {
      this.#outstanding.set(packetId, qos);
      if (this.#outstanding.size > this.receiveMaximum) throw new Error('the Receive Maximum is exceeded');
    }
    if (qos === 2) {
      if (this.#unreleased.has(packetId)) return;
      this.#unreleased.add(packetId);
    }
    this.receipts.push({ payload, qos });
  }

  /** Reads and answers until nothing more comes. */
  async acknowledgeAll(): Promise<void> {
    for (;;) {
      this.receive();
      const answers = this.#unanswered.splice(0);
      if (answers.length === 0) return;
      for (const packet of answers) await this.#answer(packet);
    }
  }

  async #answer(packet: Packet): Promise<void> {
    if (packet.type === 'publish' && packet.qos === 1) {
      this.#outstanding.delete(packet.packetId);
      await this.#send('puback', packet.packetId);
    } else if (packet.type === 'publish' && packet.qos === 2) {
      await this.#send('pubrec', packet.packetId);
    } else if (packet.type === 'pubrel') {
      this.#unreleased.delete(packet.packetId);
      this.#outstanding.delete(packet.packetId);
      await this.#send('pubcomp', packet.packetId);
    }
  }

  /** The client will not acknowledge the messages of its last connection. */
  forgetUnanswered(): void {
    this.#unanswered = [];
  }

  async #send(type: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp', packetId: number): Promise<void> {
    if (this.link === undefined) return;
    await this.#door.broker.receive(this.link, { type, packetId, reasonCode: 0, properties: {} });
  }
}
