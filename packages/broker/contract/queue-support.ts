import type {
  Delivery,
  Message,
  Queued,
  QueuedPublish,
  QueueLimits,
  SessionRef,
  Stores,
} from '../src/index.ts';
import {
  Client,
  deliveryTo,
  type MakeStores,
  messageId,
  messageOf,
  NOW_MS,
  ROOMY,
  summary,
} from './support.ts';

/** A client whose messages are named by their payloads. */
export class QueueClient extends Client {
  #messages = 0;

  static async make(makeStores: MakeStores, receiveMaximum?: number): Promise<QueueClient> {
    const client = new QueueClient(await makeStores());
    await client.open(receiveMaximum === undefined ? {} : { receiveMaximum });
    return client;
  }

  static async beside(
    other: { stores: Stores; tenant: string },
    receiveMaximum?: number,
  ): Promise<QueueClient> {
    const client = new QueueClient(other.stores, other.tenant);
    await client.open(receiveMaximum === undefined ? {} : { receiveMaximum });
    return client;
  }

  message(payload: string, fields: Partial<Message> = {}): Message {
    this.#messages += 1;
    return messageOf({ id: messageId(this.#messages), payload: Buffer.from(payload), ...fields });
  }

  /** Offers one message and answers its delivery. */
  async offer(
    payload: string,
    fields: Partial<Delivery> & { limits?: QueueLimits; isHeld?: boolean; expiresAtMs?: number } = {},
  ): Promise<Delivery & { dropped: number }> {
    const { limits = ROOMY, isHeld = false, expiresAtMs, ...rest } = fields;
    const delivery = deliveryTo(await this.session(), rest);
    const message = this.message(payload, expiresAtMs === undefined ? {} : { expiresAtMs });
    const hold = isHeld ? new Set([delivery]) : undefined;
    const dropped = await this.stores.queues.offer(message, [delivery], limits, hold);
    return Object.assign(delivery, { dropped });
  }

  async offerAll(payloads: readonly string[], fields: Parameters<QueueClient['offer']>[1] = {}) {
    const deliveries: Delivery[] = [];
    for (const payload of payloads) deliveries.push(await this.offer(payload, fields));
    return deliveries;
  }

  async next(limit = 100, nowMs = NOW_MS): Promise<readonly Queued[]> {
    return await this.stores.queues.next(
      await this.session(),
      { messages: limit, bytes: Number.POSITIVE_INFINITY },
      nowMs,
    );
  }

  async dequeued(limit = 100, nowMs = NOW_MS): Promise<string[]> {
    return summary(await this.next(limit, nowMs));
  }

  async complete(packetId: number): Promise<boolean> {
    return (await this.stores.queues.complete(await this.session(), packetId)) === 'done';
  }

  async release(packetId: number): Promise<boolean> {
    return (await this.stores.queues.release(await this.session(), packetId)) === 'done';
  }

  /** Reads the unacknowledged messages of an ended session and clears its queue, as the broker does. */
  async unacknowledged(session?: SessionRef): Promise<readonly QueuedPublish[]> {
    const { queues } = this.stores;
    const ref = session ?? (await this.session());
    const left = await queues.unacknowledged(ref);
    await queues.clear(ref);
    return left;
  }

  async length(): Promise<number> {
    return await this.stores.queues.length(await this.session());
  }
}
