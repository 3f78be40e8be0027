import type { ReceivedStore, SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { type MemoryBudget, RECEIPT_BYTES } from './memory-budget.ts';
import type { RepeatableCopies } from './repeatable-copies.ts';
import type { MemorySessions } from './sessions.ts';

/** How far the first receipt of a QoS 2 message has come. */
export interface Receipt {
  state: 'pending' | 'delivered';
  readonly messageId: string;
}

/** Packet ids of QoS 2 messages that were received and not released: a map for each session that ever sent one. */
export class MemoryReceived implements ReceivedStore {
  readonly #sessions: MemorySessions;
  readonly #repeatable: RepeatableCopies;
  readonly #budget: MemoryBudget;

  constructor(sessions: MemorySessions, repeatable: RepeatableCopies, budget: MemoryBudget) {
    this.#sessions = sessions;
    this.#repeatable = repeatable;
    this.#budget = budget;
  }

  begin(
    session: SessionRef,
    packetId: PacketId,
    messageId: string,
    maximum: number,
  ): { state: 'new' | 'pending' | 'delivered' | 'over-limit'; messageId: string } {
    const receipts = this.#receipts(session);
    const receipt = receipts?.get(packetId);
    if (receipt !== undefined) return { state: receipt.state, messageId: receipt.messageId };
    if ((receipts?.size ?? 0) >= maximum) return { state: 'over-limit', messageId };
    this.#remember(session, packetId, messageId);
    return { state: 'new', messageId };
  }

  hasRoom(session: SessionRef, maximum: number): boolean {
    return (this.#receipts(session)?.size ?? 0) < maximum;
  }

  markDelivered(session: SessionRef, packetId: PacketId): void {
    const receipt = this.#receipts(session)?.get(packetId);
    if (receipt === undefined) return;
    receipt.state = 'delivered';
    this.#repeatable.end(receipt.messageId);
  }

  release(session: SessionRef, packetId: PacketId): boolean {
    const receipts = this.#receipts(session);
    const receipt = receipts?.get(packetId);
    if (receipt === undefined) return false;
    this.#repeatable.end(receipt.messageId);
    this.#budget.change(-RECEIPT_BYTES);
    return receipts?.delete(packetId) ?? false;
  }

  clear(ref: SessionRef): void {
    const session = this.#sessions.live(ref);
    if (session === undefined) return;
    for (const { messageId } of session.state.received?.values() ?? []) this.#repeatable.end(messageId);
    this.#budget.change(-RECEIPT_BYTES * (session.state.received?.size ?? 0));
    session.state.received = undefined;
    this.#sessions.cleared(session);
  }

  #receipts(session: SessionRef): Map<PacketId, Receipt> | undefined {
    return this.#sessions.live(session)?.state.received;
  }

  #remember(ref: SessionRef, packetId: PacketId, messageId: string): void {
    const session = this.#sessions.live(ref);
    if (session === undefined) return;
    session.state.received ??= new Map();
    this.#budget.change(RECEIPT_BYTES);
    session.state.received.set(packetId, { state: 'pending', messageId });
    this.#repeatable.begin(messageId);
  }
}
