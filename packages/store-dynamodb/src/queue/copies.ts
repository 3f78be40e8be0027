import type { Delivery, SessionRef } from '@apus/broker';
import { sessionKey } from '@apus/broker';
import { hashOf, sharedCopyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Action } from '../table/transaction.ts';
import { type Item, number, text, textOf, VERSION } from '../table/values.ts';

/**
 * Deduplication records ("memories") of copies of QoS 2 messages for share groups. A repetition of the fan-out may choose
 * another member than the first did, so no session's record can know of it (as it does of the session's own copies: see
 * `completed.ts`). The write that places such a copy, inflight or in the log, also puts a memory, on condition that there
 * is none yet. Both are written or neither: were the memory written first, a crash would lose the copy; were it second, the
 * copy could come twice. After that a copy is only moved, from the log to a packet id or from one connection to the next,
 * each time by one write or transaction. The memory stays for `repeatSecondsMax`.
 */
export class Copies {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The memory to put with the copy. Undefined: it needs none. */
  memoryOf(messageId: string, index: string, { session, share, qos, copy }: Delivery): Item | undefined {
    if (qos !== 2 || copy === undefined || share === undefined) return undefined;
    const { p, s } = sharedCopyKey(session.tenant, messageId, index);
    return {
      p: text(p),
      s: text(s),
      v: number(VERSION),
      t: number(this.#table.nowSeconds() + this.#table.settings.repeatSecondsMax),
      n: text(session.clientId),
      i: text(session.incarnation),
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

/**
 * Which copy: hashed, as it is a part of a sort key. Its first character says of which kind it is: see `isRepeatable`.
 *
 * @param nonce for a delivery that no repetition knows again, such as that of a retained message
 */
export function indexOfCopy({ share, copy }: Delivery, nonce: () => string): string {
  if (share !== undefined)
    return `$${copy === undefined ? nonce() : hashOf([share.shareGroup, share.topicFilter, copy].join('\0'))}`;
  if (copy === undefined) return `~${nonce()}`;
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
