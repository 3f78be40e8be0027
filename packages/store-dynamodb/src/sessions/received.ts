import type { ReceivedStore, SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { OWNED, ownedPartition } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { number, text, textOf, VERSION } from '../table/values.ts';
import type { OwnedItems } from './owned-items.ts';

type Receipt = { state: 'new' | 'pending' | 'delivered' | 'over-limit'; messageId: string };

/**
 * Packet ids of QoS 2 messages that were received and are not released: one item for each session that sends QoS 2,
 * with an attribute for each id, and their number, so that the limit is a clause of the write that adds one.
 */
export class DynamoReceived implements ReceivedStore {
  readonly #table: Table;
  readonly #ownedItems: OwnedItems;

  constructor(table: Table, ownedItems: OwnedItems) {
    this.#table = table;
    this.#ownedItems = ownedItems;
  }

  async begin(session: SessionRef, packetId: PacketId, messageId: string, maximum: number): Promise<Receipt> {
    this.#ownedItems.forget();
    const isNew = 'attribute_not_exists(#id)';
    const hasRoom = '(attribute_not_exists(n) OR n < :maximum)';
    const { ok, old, isRetry } = await this.#table.update(
      receivedKey(session),
      'SET #id = :receipt, v = :v, t = :t ADD n :one',
      {
        condition: `${isNew} AND ${hasRoom}`,
        names: { '#id': attributeOf(packetId) },
        values: {
          ':receipt': { M: { m: text(messageId), s: text('p') } },
          ':v': number(VERSION),
          ':t': number(this.#table.nowSeconds() + this.#table.settings.queueSecondsMax),
          ':one': number(1),
          ':maximum': number(maximum),
        },
      },
    );
    if (ok) return { state: 'new', messageId };
    const receipt = old?.[attributeOf(packetId)]?.M;
    if (receipt === undefined) return { state: 'over-limit', messageId };
    const known = textOf(receipt, 'm') ?? messageId;
    if (isRetry && known === messageId) return { state: 'new', messageId };
    return { state: textOf(receipt, 's') === 's' ? 'delivered' : 'pending', messageId: known };
  }

  /** Always true: a look would cost every QoS 1 message a read. */
  hasRoom(): boolean {
    return true;
  }

  async markDelivered(session: SessionRef, packetId: PacketId): Promise<void> {
    const isKnown = 'attribute_exists(#id)';
    await this.#table.update(receivedKey(session), 'SET #id.#state = :delivered', {
      condition: isKnown,
      names: { '#id': attributeOf(packetId), '#state': 's' },
      values: { ':delivered': text('s') },
    });
  }

  async release(session: SessionRef, packetId: PacketId): Promise<boolean> {
    const isKnown = 'attribute_exists(#id)';
    const { ok, isRetry } = await this.#table.update(receivedKey(session), 'REMOVE #id ADD n :less', {
      condition: isKnown,
      names: { '#id': attributeOf(packetId) },
      values: { ':less': number(-1) },
    });
    return ok || isRetry;
  }

  async clear(session: SessionRef): Promise<void> {
    const item = await this.#ownedItems.received(this.#table, session);
    if (item !== undefined) await this.#table.delete(receivedKey(session));
  }
}

function receivedKey(session: SessionRef) {
  return { p: ownedPartition(session), s: OWNED.received };
}

function attributeOf(packetId: PacketId): string {
  return `id${packetId}`;
}
