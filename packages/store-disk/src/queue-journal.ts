import type { QueuedPublish } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Holding } from '@apus/store-memory';
import { inflightCodec, queuedCodec } from './codec.ts';
import type { LiveSession } from './durable-sessions.ts';
import type { HeldMessages } from './held-messages.ts';
import { inflightKey, queuedKey } from './keys.ts';
import type { RepeatableFanOuts } from './repeatable-fan-outs.ts';
import type { SharedMessages } from './shared-messages.ts';
import type { Writer } from './writer.ts';

/** The place of a queue's message on the disk. */
export interface Place {
  /** Ascending, in the order in which the session was promised its messages, and in which they are sent. */
  readonly number: number;
  /** The message is stored once, for several sessions. */
  readonly isShared: boolean;
  /** The packet id under which it has to be sent; 0: any. */
  readonly reservedId: PacketId;
  /** A record beside the message says how far its delivery has come. */
  isMarked: boolean;
  /**
   * The position of the writer when everything was written that has to be durable before the message, or its PUBREL,
   * is sent.
   */
  position: number;
}

/** What the journals of all sessions share. */
export interface QueueJournalContext {
  readonly writer: Writer;
  readonly messages: SharedMessages;
  readonly held: HeldMessages;
  readonly repeatable: RepeatableFanOuts;
  readonly nextNumber: () => number;
}

/** The journal of one session's messages. */
export class QueueJournal {
  readonly #session: number;
  readonly #tenant: string;
  readonly #holding: Holding;
  readonly #context: QueueJournalContext;
  #isClosed = false;

  constructor(session: number, { tenant, state: { holding } }: LiveSession, context: QueueJournalContext) {
    this.#session = session;
    this.#tenant = tenant;
    this.#holding = holding;
    this.#context = context;
  }

  /** The session has ended and its records are gone: writes nothing more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Adds a message that waits; or is inflight, if it has a packet id. */
  added({ message, delivery }: QueuedPublish, isShared: boolean, reservedId: PacketId): Place {
    const number = this.#context.nextNumber();
    if (!this.#isClosed) {
      this.#context.held.hold(message, this.#tenant, this.#holding);
      const stored = {
        delivery,
        message: isShared ? this.#context.messages.refer(message) : message,
        reservedId,
      };
      this.#context.writer.put(queuedKey(this.#session, number), queuedCodec.encode(stored));
    }
    const { position } = this.#context.writer;
    return { number, isShared: isShared && !this.#isClosed, reservedId, isMarked: false, position };
  }

  /**
   * The message does not wait any more. Under a reserved id it may be sent before the disk knows: if a crash loses
   * that, it is sent again under the same id. But a message that may expire, or go to another member of its share
   * group, must not look unsent.
   */
  sent(place: Place, { delivery, message }: QueuedPublish): void {
    this.#mark(place, delivery.packetId, false);
    const mayBeGivenUp = message.expiresAtMs !== undefined || delivery.share !== undefined;
    if (place.reservedId === 0 || mayBeGivenUp) place.position = this.#context.writer.position;
  }

  /** A message from the disk. */
  restored({ message }: QueuedPublish): void {
    this.#context.held.hold(message, this.#tenant, this.#holding);
  }

  /** PUBREC has come: only the packet id of the message is still needed. */
  released(place: Place, packetId: PacketId, entry: QueuedPublish): void {
    this.#mark(place, packetId, true);
    this.#removeMessage(place, entry);
    place.position = this.#context.writer.position;
  }

  /** The message is complete. `entry`: the message, unless it was released before. */
  removed(place: Place, entry: QueuedPublish | undefined): void {
    if (this.#isClosed) return;
    if (entry !== undefined) this.#removeMessage(place, entry);
    if (place.isMarked) this.#context.writer.remove(inflightKey(this.#session, place.number));
  }

  #mark(place: Place, packetId: PacketId, isReleased: boolean): void {
    if (this.#isClosed) return;
    place.isMarked = true;
    const mark = inflightCodec.encode({ packetId, isReleased });
    this.#context.writer.put(inflightKey(this.#session, place.number), mark);
  }

  #removeMessage(place: Place, entry: QueuedPublish): void {
    if (this.#isClosed) return;
    const { message } = entry;
    this.#context.repeatable.completed(entry, this.#session, place.number);
    this.#context.writer.remove(queuedKey(this.#session, place.number));
    if (place.isShared) this.#context.messages.release(message);
    this.#context.held.release(message, this.#holding);
  }
}
