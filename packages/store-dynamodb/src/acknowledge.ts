import type { Acknowledged, CompletingPacket, SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
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
  /** Sessions whose last acknowledgement found that nothing waits behind it: the next `next` need not look. */
  readonly #quiet = new WeakSet<SessionRef>();

  constructor(table: Table) {
    this.#table = table;
  }

  async complete(session: SessionRef, packetId: PacketId, answer?: CompletingPacket): Promise<Acknowledged> {
    const written = await this.#delete(session, packetId, answer);
    if (!written.ok) return outcomeOf(written, session);
    // Who gives a message up does not ask for the next one: nobody would look for the mark again.
    if (answer !== undefined && written.old !== undefined && written.old.f === undefined)
      this.#quiet.add(session);
    return 'done';
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
    return written.ok ? 'done' : outcomeOf(written, session);
  }

  /** True once after an acknowledgement behind which nothing waits. */
  takeQuiet(session: SessionRef): boolean {
    return this.#quiet.delete(session);
  }

  async #delete(session: SessionRef, packetId: PacketId, answer?: CompletingPacket): Promise<Written> {
    const isInUse = 'attribute_exists(p)';
    const isAnsweredSo = 'k = :kind';
    return await this.#table.delete(inflightKey(session, packetId), {
      condition: `${answer === undefined ? isInUse : isAnsweredSo}${this.#isHere(session)}`,
      ...values(session, answer === undefined ? {} : { ':kind': text(KIND_OF[answer]) }),
      returnsOld: true,
    });
  }

  #isHere(session: SessionRef): string {
    return connectionOf(session) === undefined ? '' : ' AND c = :connection';
  }
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
