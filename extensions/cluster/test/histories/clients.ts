import { type Broker, PublishOrder, waitFor } from '@apus/broker';
import { Inbound, Turns } from '@apus/door';
import { type AcknowledgementPacket, encodePublish, type Packet, type PublishPacket } from '@apus/mqtt';
import type { FakeDoor, FakeLink } from '../../../../packages/broker/test/support/fake-door.ts';
import type { Without } from './slow-engine.ts';

/** A process at which clients are connected. */
export interface Served {
  readonly door: FakeDoor;
  isDead: boolean;
}

const WINDOW = 20;

/** Lets the next message come before the stream has been asked for this one. */
class EagerOrder extends PublishOrder {
  override enter(...given: Parameters<PublishOrder['enter']>) {
    const entered = super.enter(...given);
    entered.asked();
    return entered;
  }
}

/** Each message is answered when it is stored, whatever happens to those before it. */
class HastyOrder extends PublishOrder {
  override enter(...given: Parameters<PublishOrder['enter']>) {
    const entered = super.enter(...given);
    Object.defineProperty(entered, 'isFirst', { value: true });
    return Object.assign(entered, { untilFirst: () => waitFor(true) });
  }
}

/** A message is appended although one before it has failed. */
class OvertakingOrder extends PublishOrder {
  override get hasFailed(): boolean {
    return false;
  }
}

const ORDERS = new Map<Without, () => PublishOrder>([
  ['the next message is handled when its stream has been asked', () => new EagerOrder()],
  ['messages are answered in their order', () => new HastyOrder()],
  ['none overtakes one that has failed', () => new OvertakingOrder()],
]);

/** A client that publishes at QoS 1, many messages at a time, and sends those without PUBACK again. */
export class Publisher {
  readonly #name: string;
  readonly #without: Without;
  /** In the order in which they were sent. */
  readonly #unanswered = new Map<number, { readonly topic: string; readonly text: string }>();
  readonly acknowledged: string[] = [];
  readonly problems: string[] = [];
  #at: Served | undefined;
  #turns: Turns | undefined;
  #link: FakeLink | undefined;
  #packetId = 0;

  constructor(name: string, without: Without) {
    this.#name = name;
    this.#without = without;
  }

  get isDone(): boolean {
    return this.#unanswered.size === 0;
  }

  /** Connected to a process that lives. */
  get isServed(): boolean {
    return this.#link?.isOpen === true && this.#at?.isDead === false;
  }

  async connect(served: Served): Promise<void> {
    this.#turns?.close();
    this.#at = served;
    const { broker } = served.door;
    const link = await served.door.connect({ clientId: this.#name });
    link.take();
    this.#link = link;
    this.#turns = this.#turnsOf(link, broker);
    for (const packetId of this.#unanswered.keys()) this.#send(packetId, true);
  }

  publish(topic: string): void {
    if (!this.isServed || this.#unanswered.size >= WINDOW) return;
    this.#packetId += 1;
    this.#unanswered.set(this.#packetId, { topic, text: `${this.#name} ${this.#packetId}` });
    this.#send(this.#packetId, false);
  }

  /** Reads what it was sent, if its process lives. */
  look(): void {
    if (this.#at?.isDead !== false) return;
    for (const packet of this.#link?.take() ?? []) if (packet.type === 'puback') this.#answered(packet);
  }

  #answered({ packetId, reasonCode }: AcknowledgementPacket): void {
    const [first] = this.#unanswered.keys();
    if (packetId !== first) this.problems.push(`${this.#name}: PUBACK of ${packetId} before ${first}`);
    const message = this.#unanswered.get(packetId);
    this.#unanswered.delete(packetId);
    if (message !== undefined && reasonCode < 0x80) this.acknowledged.push(message.text);
  }

  #send(packetId: number, dup: boolean): void {
    const { topic, text } = this.#unanswered.get(packetId) ?? { topic: '', text: '' };
    const packet: PublishPacket = {
      ...{ type: 'publish', topic, payload: Buffer.from(text), qos: 1, retain: false, dup, packetId },
      properties: {},
    };
    this.#turns?.push(encodePublish(packet, 5).bytes);
  }

  #turnsOf(link: FakeLink, broker: Broker): Turns {
    const end = () => link.close();
    const handlers = {
      handle: (packet: Parameters<Broker['receive']>[1]) => broker.receive(link, packet),
      ...{ lost: end, failed: end, isStalled: () => !link.isOpen, waiting() {} },
    };
    const turns = new Turns(new Inbound(1e6, 1e6, 5), handlers, { now: () => 0 });
    const publishOrder = ORDERS.get(this.#without)?.() ?? new PublishOrder();
    Object.assign(link, { publishOrder, goOn: () => turns.goOn() });
    return turns;
  }
}

/** A program that reads one topic with `resume`: it goes on behind the last message that it has got. */
export class ResumingReader {
  readonly topic: string;
  readonly seen: string[] = [];
  readonly problems: string[] = [];
  #position: string | undefined;
  #at: Served | undefined;
  #link: FakeLink | undefined;
  #joins = 0;

  constructor(topic: string) {
    this.topic = topic;
  }

  get isServed(): boolean {
    return this.#link?.isOpen === true && this.#at?.isDead === false;
  }

  async connect(served: Served): Promise<void> {
    this.#at = served;
    this.#joins += 1;
    const link = await served.door.connect({ clientId: `reader ${this.topic} ${this.#joins}` });
    link.take();
    this.#link = link;
    const start =
      this.#position === undefined
        ? (['stream-offset', 'earliest'] as const)
        : (['stream-position', this.#position] as const);
    const properties = { userProperties: [start] };
    const fails = () => link.close();
    let turn = served.door.subscribe(link, this.topic, 0, { properties }).catch(fails);
    link.onDrainSoon = () => {
      turn = turn.then(() => served.door.broker.drain(link)).catch(fails);
    };
  }

  look(): void {
    if (this.#at?.isDead !== false) return;
    for (const packet of this.#link?.take() ?? []) {
      if (packet.type === 'suback') this.#begin(packet);
      else if (packet.type === 'publish') this.#note(packet);
      else if (packet.type === 'disconnect') this.problems.push(`${this.topic}: the reader was closed`);
    }
  }

  #begin({ properties, reasonCodes }: Packet & { type: 'suback' }): void {
    const recovered = properties.userProperties?.find(([name]) => name === 'stream-recovered')?.[1];
    if ((reasonCodes[0] ?? 0) >= 0x80) this.#link?.close();
    else if (recovered !== 'true') this.problems.push(`${this.topic}: a gap was reported`);
  }

  #note({ payload, properties }: PublishPacket): void {
    this.#position = properties.userProperties?.find(([name]) => name === 'stream-position')?.[1];
    this.seen.push(Buffer.from(payload).toString());
  }
}
