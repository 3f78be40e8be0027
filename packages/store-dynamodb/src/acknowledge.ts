import { type Acknowledged, type CompletingPacket, KEPT_PACKET_ID_MAX, type SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Drawn } from './drawn.ts';
import { type DrawnEntry, isNamedBy } from './drawn-list.ts';
import { InDoubtError } from './errors.ts';
import type { FrameCache } from './frame-cache.ts';
import { type Key, ownedPartition } from './keys.ts';
import { inflightKey, KIND } from './queue-items.ts';
import { connectionOf } from './session-ref.ts';
import type { Table, Written } from './table.ts';
import { type Item, text, textOf } from './values.ts';

const KIND_OF: Readonly<Record<CompletingPacket, string>> = {
  puback: KIND.atLeastOnce,
  pubrec: KIND.exactlyOnce,
  pubcomp: KIND.released,
};

/**
 * Acknowledgements: one conditional write each, and no read.
 *
 *     client, on A                       client, on B
 *     PUBACK 1 (its frame is late)
 *                                        id 1 is sent again, on B
 *     PUBACK 1 arrives: fails, the item is B's
 */
export class Acknowledge {
  readonly #table: Table;
  readonly #drawn: Drawn;
  readonly #frame: FrameCache;
  /** Sessions whose last acknowledgement found that nothing waits behind it: the next `next` need not look. */
  readonly #quiet = new WeakSet<SessionRef>();

  constructor(table: Table, drawn: Drawn, frame: FrameCache) {
    this.#table = table;
    this.#drawn = drawn;
    this.#frame = frame;
  }

  async complete(session: SessionRef, packetId: PacketId, answer?: CompletingPacket): Promise<Acknowledged> {
    const isFirstAsked = isAboveWindow(session, packetId);
    const drawn = isFirstAsked ? await this.#completeDrawn(session, packetId, answer) : undefined;
    if (drawn !== undefined) return drawn;
    const written = await this.#delete(session, packetId, answer);
    if (written.ok) {
      if (answer === undefined) this.#frame.forgetDrawn(session.key);
      this.#noteLook(session, answer, written.old?.f !== undefined || written.old === undefined);
      return 'done';
    }
    const outcome = outcomeOf(written, session);
    if (outcome !== 'unknown' || isFirstAsked) return outcome;
    return (await this.#completeDrawn(session, packetId, answer)) ?? outcome;
  }

  async release(session: SessionRef, packetId: PacketId): Promise<Acknowledged> {
    const isExactlyOnce = 'k IN (:sent, :released)';
    const written = await this.#table.update(
      inflightKey(session, packetId),
      'SET k = :released REMOVE b, bn',
      {
        condition: `${isExactlyOnce}${this.#isHere(session)}`,
        ...values(session, { ':sent': text(KIND_OF.pubrec), ':released': text(KIND_OF.pubcomp) }),
      },
    );
    const outcome = written.ok ? 'done' : outcomeOf(written, session);
    if (outcome !== 'unknown') return outcome;
    // What is drawn by the list is of QoS 1, and answered by PUBACK.
    const entry = await this.#findDrawn(session, packetId);
    return entry !== undefined && (await this.#isThere(session, entry)) ? 'out-of-place' : outcome;
  }

  /** True once after an acknowledgement behind which nothing waits, or that leaves the look to the end of the frame. */
  takeQuiet(session: SessionRef): boolean {
    return this.#quiet.delete(session);
  }

  /**
   * A message that was drawn by the list is deleted where it waits. Undefined when there is none under this id. What the
   * list names was sent on the connection that it names, so an acknowledgement that comes late is right all the same:
   *
   *     client, on A                       client, on B
   *     PUBACK 101 (its frame is late)
   *     reads the list: 101 is m, on A
   *                                        the list is B's: sends m again
   *     deletes m: the client has it
   *                                        PUBACK 101: m is gone. Looks: the other one had nothing to draw for B
   */
  async #completeDrawn(
    session: SessionRef,
    packetId: PacketId,
    answer: CompletingPacket | undefined,
  ): Promise<Acknowledged | undefined> {
    const entry = await this.#findDrawn(session, packetId);
    if (entry === undefined) return undefined;
    if (answer !== undefined && answer !== 'puback')
      return (await this.#isThere(session, entry)) ? 'out-of-place' : undefined;
    const isThere = 'attribute_exists(p)';
    const isTheSame = 'u = :nonce';
    const { ok, isRetry } = await this.#table.delete(keyOf(session, entry), {
      condition: entry.nonce === undefined ? isThere : isTheSame,
      ...(entry.nonce !== undefined && { values: { ':nonce': text(entry.nonce) } }),
    });
    if (!ok && !isRetry) {
      if (answer !== undefined) this.#frame.oweLook();
      return undefined;
    }
    if (answer === undefined) this.#frame.forgetDrawn(session.key);
    this.#noteLook(session, answer, true);
    return 'done';
  }

  async #isThere(session: SessionRef, entry: DrawnEntry): Promise<boolean> {
    return isNamedBy(entry, await this.#table.get(keyOf(session, entry)));
  }

  async #findDrawn(session: SessionRef, packetId: PacketId): Promise<DrawnEntry | undefined> {
    // Ids above are of messages that are kept nowhere.
    if (packetId > KEPT_PACKET_ID_MAX) return undefined;
    return await this.#drawn.find(session, connectionOf(session), packetId);
  }

  /** Who gives a message up does not ask for the next one: nobody would look for the mark again. */
  #noteLook(session: SessionRef, answer: CompletingPacket | undefined, isSomethingBehind: boolean): void {
    if (answer === undefined) return;
    if (!isSomethingBehind || this.#frame.oweLook()) this.#quiet.add(session);
  }

  /**
   * An id is free for another message as soon as its item is gone, whether or not anybody is told:
   *
   *     client                             handler of PUBCOMP 3            fan-out
   *     PUBCOMP 3
   *                                        deletes 3; no answer
   *                                                                        puts another message inflight under 3
   *     PUBREC 3: its item is released
   *                                        (were it to delete 3 once more …)
   *
   * So where there is doubt it looks, and takes nothing for its own that stands there: the connection ends, and the next
   * one sends again what is left.
   */
  async #delete(session: SessionRef, packetId: PacketId, answer?: CompletingPacket): Promise<Written> {
    const isInUse = 'attribute_exists(p)';
    const isAnsweredSo = 'k = :kind';
    const key = inflightKey(session, packetId);
    try {
      return await this.#table.delete(key, {
        condition: `${answer === undefined ? isInUse : isAnsweredSo}${this.#isHere(session)}`,
        ...values(session, answer === undefined ? {} : { ':kind': text(KIND_OF[answer]) }),
        returnsOld: true,
        once: true,
      });
    } catch (error) {
      if (!(error instanceof InDoubtError) || (await this.#table.get(key)) !== undefined) throw error;
      return { ok: false, old: undefined, isRetry: true };
    }
  }

  #isHere(session: SessionRef): string {
    return connectionOf(session) === undefined ? '' : ' AND c = :connection';
  }
}

/** What is drawn by the list has an id up there, unless those have run out, or the window was smaller then. */
function isAboveWindow({ attachment }: SessionRef, packetId: PacketId): boolean {
  return attachment !== undefined && packetId > attachment.receiveMaximum;
}

function keyOf(session: SessionRef, { sort }: DrawnEntry): Key {
  return { p: ownedPartition(session), s: sort };
}

function values(session: SessionRef, others: Item): { values?: Item } {
  const connectionId = connectionOf(session);
  const all = { ...others, ...(connectionId !== undefined && { ':connection': text(connectionId) }) };
  return Object.keys(all).length === 0 ? {} : { values: all };
}

function outcomeOf({ old, isRetry }: Written, session: SessionRef): Acknowledged {
  // An attempt whose answer was lost may have done it.
  if (old === undefined) return isRetry ? 'done' : 'unknown';
  const connectionId = connectionOf(session);
  return connectionId === undefined || textOf(old, 'c') === connectionId ? 'out-of-place' : 'unknown';
}
