import type { SessionRef } from '@apus/broker';
import { MEMBER_BYTES_BESIDE_CLIENT_ID, SHARE_GROUP_BYTES_MAX, SHARE_MEMBERS_MAX } from '../limits.ts';
import type { Key } from '../table/keys.ts';
import type { Table, Written } from '../table/table.ts';
import type { Action } from '../table/transaction.ts';
import { type Item, number, text, textOf, VERSION } from '../table/values.ts';
import { ANY_ENTRY, type EntryCondition } from './own-entry.ts';
import { ENTRY, endedEntriesOf, entriesOf, unpackEntry } from './subscriber-entry.ts';

/** The fields that identify a member and bound the length of its entry. */
export type Member = Pick<SessionRef, 'clientId' | 'incarnation'>;

/**
 * The members of a share group, one item: an attribute for each, their number (`n`) and at most how many bytes they
 * take (`w`), so that both limits are clauses of the write that adds one; and a mark (`x`) while the head of the
 * filter does not name the group.
 */
export class ShareMembers {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Adds a member, if there is room and no mark, or only `mark`, which it removes. */
  async add(key: Key, member: Member, entry: string, mark: string | undefined): Promise<Written> {
    const isNew = 'attribute_not_exists(#entry)';
    const hasRoom = '(attribute_not_exists(n) OR n < :maximum)';
    const hasBytes = '(attribute_not_exists(w) OR w <= :bytes)';
    const isNamed = mark === undefined ? 'attribute_not_exists(x)' : '(attribute_not_exists(x) OR x = :mark)';
    const bytes = bytesMaxOf(member);
    return await this.#table.update(key, 'SET #entry = :entry, v = :v REMOVE x ADD n :one, w :more', {
      condition: `${isNew} AND ${hasRoom} AND ${hasBytes} AND ${isNamed}`,
      names: { '#entry': ENTRY + member.incarnation },
      values: {
        ':entry': text(entry),
        ':v': number(VERSION),
        ':one': number(1),
        ':more': number(bytes),
        ':maximum': number(SHARE_MEMBERS_MAX),
        ':bytes': number(SHARE_GROUP_BYTES_MAX - bytes),
        ...(mark !== undefined && { ':mark': text(mark) }),
      },
    });
  }

  async remove(key: Key, member: Member, { condition, values }: EntryCondition): Promise<Written> {
    return await this.#table.update(key, 'REMOVE #entry ADD n :less, w :fewer', {
      condition,
      names: { '#entry': ENTRY + member.incarnation },
      values: { ...values, ':less': number(-1), ':fewer': number(-bytesMaxOf(member)) },
    });
  }

  /** Removes members of ended connections that a crash has left. Returns how many. */
  async removeEnded(key: Key, group: Item | undefined): Promise<number> {
    const ended = endedEntriesOf(group, this.#table.nowSeconds());
    for (const incarnation of ended) {
      const { clientId } = unpackEntry(incarnation, textOf(group, ENTRY + incarnation) ?? '[]');
      await this.remove(key, { clientId, incarnation }, ANY_ENTRY);
    }
    return ended.length;
  }

  isEmpty(group: Item | undefined): boolean {
    return entriesOf(group, this.#table.nowSeconds()).length === 0;
  }

  /** Marks a group without members: the head does not name it any more. */
  marking(key: Key, mark: string): Action {
    const hasNone = '(attribute_not_exists(n) OR n <= :none)';
    return {
      key,
      update: 'SET x = :mark, v = :v',
      condition: hasNone,
      values: { ':mark': text(mark), ':v': number(VERSION), ':none': number(0) },
    };
  }
}

export function markOf(group: Item | undefined): string | undefined {
  return textOf(group, 'x');
}

/** The same when a member joins and when it leaves, even if its entry has changed. */
function bytesMaxOf({ clientId }: Member): number {
  return Buffer.byteLength(JSON.stringify(clientId)) + MEMBER_BYTES_BESIDE_CLIENT_ID;
}
