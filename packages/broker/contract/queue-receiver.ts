import { expect } from 'vitest';
import type { Delivery, Message, Queued, QueueLimits } from '../src/index.ts';
import { QueueClient } from './queue-support.ts';
import { deliveryTo, type MakeStores, NOW_MS, ROOMY } from './support.ts';

/**
 * A receiver of QoS 2 messages as MQTT has it (section 4.3.3): a PUBLISH whose packet id it has not yet released is the
 * same message, any other is a new one. It counts how often each message has come.
 */
export class QueueReceiver {
  readonly client: QueueClient;
  readonly #publisher: QueueClient;
  readonly #counts = new Map<string, number>();
  /** Packet id → message id, until PUBREL. */
  readonly #open = new Map<number, string>();
  #receipts = 0;

  private constructor(client: QueueClient, publisher: QueueClient) {
    this.client = client;
    this.#publisher = publisher;
  }

  static async make(makeStores: MakeStores, receiveMaximum?: number): Promise<QueueReceiver> {
    const client = await QueueClient.make(makeStores, receiveMaximum);
    return new QueueReceiver(client, await QueueClient.beside(client));
  }

  static async beside(other: QueueReceiver, receiveMaximum?: number): Promise<QueueReceiver> {
    return new QueueReceiver(await QueueClient.beside(other.client, receiveMaximum), other.#publisher);
  }

  /** A message whose fan-out may be repeated: its receipt is begun and not marked as delivered. */
  async message(payload: string): Promise<Message> {
    const message = this.client.message(payload, { qos: 2 });
    this.#receipts += 1;
    const session = await this.#publisher.session();
    await this.client.stores.received.begin(session, this.#receipts, message.id, 0xffff);
    return message;
  }

  /** A fan-out of the message, or the repetition of one, and what it lets go at once. */
  async offer(
    message: Message,
    fields: Partial<Delivery> & { limits?: QueueLimits; arrives?: boolean } = {},
  ): Promise<Delivery> {
    const { limits = ROOMY, arrives = true, ...rest } = fields;
    const delivery = deliveryTo(await this.client.session(), { qos: 2, copy: '', ...rest });
    await this.client.stores.queues.offer(message, [delivery], limits);
    if (arrives && delivery.packetId !== 0) this.receive(message.id, delivery.packetId);
    return delivery;
  }

  /** Dequeues all that may be sent, and receives it. */
  async dequeue(): Promise<readonly Queued[]> {
    const dequeued: Queued[] = [];
    for (;;) {
      const page = await this.client.next(3, NOW_MS);
      if (page.length === 0) return dequeued;
      dequeued.push(...page);
      for (const queued of page) {
        if (queued.type === 'publish') this.receive(queued.message.id, queued.delivery.packetId);
        else await this.#complete(queued.packetId);
      }
    }
  }

  receive(messageId: string, packetId: number): void {
    const open = this.#open.get(packetId);
    if (open !== undefined) {
      expect(messageId, `packet id ${packetId} is in use for another message`).toBe(open);
      return;
    }
    this.#open.set(packetId, messageId);
    this.#counts.set(messageId, this.count(messageId) + 1);
  }

  /** PUBREC, PUBREL and PUBCOMP of the nth message that is open. False when there is none. */
  async finish(nth = 0): Promise<boolean> {
    const packetIds = [...this.#open.keys()];
    const packetId = packetIds[nth % packetIds.length];
    if (packetId === undefined) return false;
    if (await this.client.release(packetId)) await this.#complete(packetId);
    return true;
  }

  /** Until nothing is left: everything that was ever offered has come, on some connection. */
  async finishAll(): Promise<void> {
    do await this.dequeue();
    while (await this.finish());
    expect(await this.client.length()).toBe(0);
  }

  count(messageId: string): number {
    return this.#counts.get(messageId) ?? 0;
  }

  /** PUBREL has come: the next PUBLISH under this packet id is another message. */
  async #complete(packetId: number): Promise<void> {
    this.#open.delete(packetId);
    const session = await this.client.session();
    expect(await this.client.stores.queues.complete(session, packetId, 'pubcomp')).toBe('done');
  }
}
