import type { Awaitable, ReceivedStore, SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { MemoryReceived } from '@apus/store-memory';
import { receiptCodec } from './codec.ts';
import type { DurableSession, DurableSessions } from './durable-sessions.ts';
import { receiptKey } from './keys.ts';
import type { RepeatableFanOuts } from './repeatable-fan-outs.ts';
import type { Writer } from './writer.ts';

type Begun = Awaited<ReturnType<ReceivedStore['begin']>>;

/** Receipts in memory; those of durable sessions on the disk as well. */
export class DiskReceived implements ReceivedStore {
  readonly #memory: MemoryReceived;
  readonly #durables: DurableSessions;
  readonly #repeatable: RepeatableFanOuts;
  readonly #writer: Writer;

  constructor(
    memory: MemoryReceived,
    durables: DurableSessions,
    repeatable: RepeatableFanOuts,
    writer: Writer,
  ) {
    this.#memory = memory;
    this.#durables = durables;
    this.#repeatable = repeatable;
    this.#writer = writer;
  }

  begin(session: SessionRef, packetId: PacketId, messageId: string, maximum: number): Awaitable<Begun> {
    const durable = this.#durables.living(session);
    if (durable === undefined) return this.#memory.begin(session, packetId, messageId, maximum);
    this.#writer.assertWorking();
    const begun = this.#memory.begin(session, packetId, messageId, maximum);
    // PUBREC is repeated at once, so the message and its receipt have to be durable.
    if (begun.state === 'delivered') return this.#writer.durable(begun);
    if (begun.state === 'new') {
      this.#write(durable, packetId, messageId, false);
      this.#repeatable.begin(messageId);
    }
    return this.#writer.beforeFanOut(begun);
  }

  hasRoom(session: SessionRef, maximum: number): boolean {
    return this.#memory.hasRoom(session, maximum);
  }

  markDelivered(session: SessionRef, packetId: PacketId): Awaitable<void> {
    this.#memory.markDelivered(session, packetId);
    const durable = this.#durables.living(session);
    if (durable === undefined) return;
    const messageId = durable.live.state.received?.get(packetId)?.messageId;
    const position = messageId === undefined ? undefined : this.#repeatable.positionOf(messageId);
    // Marked by the client's other connection, perhaps a moment ago: PUBREC waits for the disk on this one as well.
    if (messageId === undefined || position === undefined) return this.#writer.durable(undefined);
    this.#write(durable, packetId, messageId, true);
    this.#repeatable.end(messageId);
    // A pending message is handed on again, to sessions that do not have it, so this need not be durable.
    const isReceiptDurable = this.#writer.isDurable(position);
    return isReceiptDurable ? this.#writer.accepted(undefined) : this.#writer.durable(undefined);
  }

  /**
   * After PUBCOMP the packet id may come with another message, which must not be taken for this one. So the PUBCOMP of
   * a repeated PUBREL waits as well: it finds no receipt, although the disk may still have it.
   */
  release(session: SessionRef, packetId: PacketId): Awaitable<boolean> {
    const durable = this.#durables.living(session);
    if (durable === undefined) return this.#memory.release(session, packetId);
    this.#writer.assertWorking();
    const messageId = durable.live.state.received?.get(packetId)?.messageId;
    if (messageId === undefined) return this.#writer.durable(false);
    this.#memory.release(session, packetId);
    this.#writer.remove(receiptKey(durable.number, packetId));
    this.#repeatable.end(messageId);
    return this.#writer.durable(true);
  }

  clear(session: SessionRef): Awaitable<void> {
    const durable = this.#durables.living(session);
    if (durable !== undefined) this.#durables.eraseReceipts(durable);
    this.#memory.clear(session);
    if (durable !== undefined) return this.#writer.accepted(undefined);
  }

  #write({ number }: DurableSession, packetId: PacketId, messageId: string, isDelivered: boolean): void {
    this.#writer.put(receiptKey(number, packetId), receiptCodec.encode({ messageId, isDelivered }));
  }
}
