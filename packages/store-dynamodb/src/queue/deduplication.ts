import type { Delivery, SessionRef } from '@apus/broker';
import { sessionKey } from '@apus/broker';
import { hashOf, sharedCopyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Action } from '../table/transaction.ts';
import { type Item, number, text, textOf, VERSION } from '../table/values.ts';

/**
 * Deduplication records of QoS 2 messages for share groups. A repetition of the fan-out may choose another member than
 * the first run did, and the record of that member's session does not know the copy. So the write that places such a
 * copy, inflight or in the log, also puts a deduplication record, on condition that there is none. If there is one,
 * this is a repetition. The two are written in one transaction: with the deduplication record first, a crash would
 * lose the copy; with it second, a crash could double the copy. After that a copy is only moved, from the log to a
 * packet id or from one connection to the next, each time by one write or transaction. For copies that are for one
 * session alone see `completed.ts`. A deduplication record is kept for `repeatSecondsMax`.
 */
export class DeduplicationRecords {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The deduplication record to put with the copy. Undefined: the copy needs none. */
  recordOf(messageId: string, index: string, { session, share, qos, copy }: Delivery): Item | undefined {
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

  /** Puts it, on condition that there is none yet. */
  putFirst(record: Item): Action {
    const isFirst = 'attribute_not_exists(p)';
    const hasExpired = 't <= :now';
    return {
      put: record,
      condition: `${isFirst} OR ${hasExpired}`,
      values: { ':now': number(this.#table.nowSeconds()) },
    };
  }

  /** The one that exists. */
  async find(record: Item): Promise<Item | undefined> {
    return await this.#table.get({ p: textOf(record, 'p') ?? '', s: textOf(record, 's') ?? '' });
  }
}

/**
 * Names a copy among the copies of one message: hashed, since it is part of a sort key. The first character tells the
 * kind of the copy: see `isRepeatable`.
 *
 * @param nonce for a copy that no repetition offers again, such as that of a retained message
 */
export function indexOfCopy({ share, copy }: Delivery, nonce: () => string): string {
  if (share !== undefined)
    return `$${copy === undefined ? nonce() : hashOf([share.shareGroup, share.topicFilter, copy].join('\0'))}`;
  if (copy === undefined) return `~${nonce()}`;
  return copy === '' ? '' : hashOf(copy);
}

/** The member of the share group that has the copy. Undefined: the session itself has it. */
export function holderOf(record: Item | undefined, session: SessionRef): SessionRef | undefined {
  const [clientId, incarnation] = [textOf(record, 'n'), textOf(record, 'i')];
  if (clientId === undefined || incarnation === undefined) return undefined;
  if (incarnation === session.incarnation) return undefined;
  const { tenant } = session;
  return { key: sessionKey(tenant, clientId), tenant, clientId, incarnation, attachment: undefined };
}
