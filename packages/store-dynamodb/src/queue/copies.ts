import type { Delivery, SessionRef } from '@apus/broker';
import { sessionKey } from '@apus/broker';
import { hashOf, type Key, OWNED, ownedPartition, sharedCopyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Action } from '../table/transaction.ts';
import { type Item, number, text, textOf, VERSION } from '../table/values.ts';

/**
 * Deduplication records ("memories") of copies of QoS 2 messages. A fan-out may be repeated under the same message id:
 * the publisher sends a PUBLISH again after its first handling died, a worker's slice comes again, or both runs happen
 * at once. So the write that places a copy, inflight or in the log, also puts a memory, on condition that there is none
 * yet:
 *
 *     fan-out A                          client                  fan-out B, the same message
 *     puts memory and inflight 7
 *     (posts, dies)
 *                                        PUBREC, PUBCOMP: 7 is free, and given to another message
 *                                                                puts memory …: it is there, nothing is placed
 *
 * Both are written or neither: were the memory written first, a crash would lose the copy; were it second, the copy
 * could come twice. After that a copy is only moved, from the log to a packet id or from one connection to the next,
 * each time by one write or transaction, so there is exactly one copy until the exchange is complete. The memory stays
 * for `repeatSecondsMax`.
 *
 * A share group has one memory of a message, whichever member it was for: a repetition may choose another.
 */
export class Copies {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The memory to put with the copy. Undefined for a copy without deduplication: at QoS 1, or without a name. */
  memoryOf(messageId: string, index: string, delivery: Delivery): Item | undefined {
    const { session, share, qos, copy } = delivery;
    if (qos !== 2 || copy === undefined) return undefined;
    const { p, s } = keyOf(messageId, index, delivery);
    return {
      p: text(p),
      s: text(s),
      v: number(VERSION),
      t: number(this.#table.nowSeconds() + this.#table.settings.repeatSecondsMax),
      ...(share !== undefined && { n: text(session.clientId), i: text(session.incarnation) }),
    };
  }

  /** Puts the memory, with the condition that makes it the first. */
  remember(memory: Item): Action {
    const isFirst = 'attribute_not_exists(p)';
    const hasExpired = 't <= :now';
    return {
      put: memory,
      condition: `${isFirst} OR ${hasExpired}`,
      values: { ':now': number(this.#table.nowSeconds()) },
    };
  }

  /** The memory that stands there. */
  async find(memory: Item): Promise<Item | undefined> {
    return await this.#table.get({ p: textOf(memory, 'p') ?? '', s: textOf(memory, 's') ?? '' });
  }
}

/** Which copy: hashed, as it is a part of a sort key. */
export function indexOfCopy({ share, copy = '' }: Delivery): string {
  if (share !== undefined) return hashOf(['share', share.shareGroup, share.topicFilter, copy].join('\0'));
  return copy === '' ? '' : hashOf(copy);
}

/** The member of the share group that has got the copy. Undefined: it is the session itself. */
export function holderOf(memory: Item | undefined, session: SessionRef): SessionRef | undefined {
  const [clientId, incarnation] = [textOf(memory, 'n'), textOf(memory, 'i')];
  if (clientId === undefined || incarnation === undefined) return undefined;
  if (incarnation === session.incarnation) return undefined;
  const { tenant } = session;
  return { key: sessionKey(tenant, clientId), tenant, clientId, incarnation, attachment: undefined };
}

function keyOf(messageId: string, index: string, { session, share }: Delivery): Key {
  if (share !== undefined) return sharedCopyKey(session.tenant, messageId, index);
  return { p: ownedPartition(session), s: `${OWNED.copy}${messageId}\0${index}` };
}
