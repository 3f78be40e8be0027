import type { QueuedPublish } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { inflightCodec, queuedCodec } from './codec.ts';
import { inflightKey, queuedKey } from './keys.ts';
import type { SharedMessages } from './shared-messages.ts';
import type { Writer } from './writer.ts';

/** Where a message of a queue stands on the disk. */
export interface Place {
  /** Ascending in the order in which the session was promised its messages, which is also that of sending. */
  readonly number: number;
  /** The message is stored once for many sessions. */
  readonly isShared: boolean;
  /** There is a record beside the message that says how far its delivery has come. */
  isMarked: boolean;
}

/** What becomes of the messages of one session, written down. */
export class QueueJournal {
  readonly #session: number;
  readonly #writer: Writer;
  readonly #messages: SharedMessages;
  readonly #nextNumber: () => number;
  #isClosed = false;

  constructor(session: number, writer: Writer, messages: SharedMessages, nextNumber: () => number) {
    this.#session = session;
    this.#writer = writer;
    this.#messages = messages;
    this.#nextNumber = nextNumber;
  }

  /** The session has ended and its records are gone: nothing of it is written any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** A message that waits, or is inflight already if it has a packet id. */
  added({ message, delivery }: QueuedPublish, isShared: boolean): Place {
    const number = this.#nextNumber();
    if (this.#isClosed) return { number, isShared: false, isMarked: false };
    const stored = isShared ? this.#messages.refer(message) : message;
    this.#writer.put(queuedKey(this.#session, number), queuedCodec.encode({ delivery, message: stored }));
    return { number, isShared, isMarked: false };
  }

  /** It no longer waits. */
  sent(place: Place, packetId: PacketId): void {
    this.#mark(place, packetId, false);
  }

  /** PUBREC came: of the message only its packet id is still needed. */
  released(place: Place, packetId: PacketId, entry: QueuedPublish): void {
    this.#mark(place, packetId, true);
    this.#removeMessage(place, entry);
  }

  /** Done with; `entry` is the message unless it was released before. */
  removed(place: Place, entry: QueuedPublish | undefined): void {
    if (this.#isClosed) return;
    if (entry !== undefined) this.#removeMessage(place, entry);
    if (place.isMarked) this.#writer.remove(inflightKey(this.#session, place.number));
  }

  #mark(place: Place, packetId: PacketId, isReleased: boolean): void {
    if (this.#isClosed) return;
    place.isMarked = true;
    const mark = inflightCodec.encode({ packetId, isReleased });
    this.#writer.put(inflightKey(this.#session, place.number), mark);
  }

  #removeMessage(place: Place, { message }: QueuedPublish): void {
    if (this.#isClosed) return;
    this.#writer.remove(queuedKey(this.#session, place.number));
    if (place.isShared) this.#messages.release(message);
  }
}
