import type { FilterName } from '@apus/broker';
import { SHARE_GROUP_NAME_BYTES_MAX, SHARE_GROUPS_LOOK, SHARE_GROUPS_MAX } from '../limits.ts';
import { batchGet } from '../table/batch.ts';
import { ThrottledError } from '../table/errors.ts';
import { groupKey, headKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Action, transact } from '../table/transaction.ts';
import { type Item, number, text, VERSION } from '../table/values.ts';
import type { ShareMembers } from './share-members.ts';

/** Names that one transaction removes: it has a hundred actions, and one of them is for the head. */
const TAKEN_OUT_AT_ONCE = 50;

/**
 * The names of the share groups in the head of their filter, from which matching finds them: each costs every publish
 * a read. The name of a group without members is removed when room is needed, and with every eighth new name. One
 * transaction removes it and marks the group's item, which must have no members. A subscriber enters the group's name
 * first, and then joins if there is no mark, or only the mark that it saw before it entered the name:
 *
 *     subscriber                         another, of a group for which there is no room
 *     the head: the name (it is there)
 *                                        the group has no members: removes its name, marks it
 *     the group: refused, it is marked
 *     the head: the name, once more
 *     the group: joins, and takes this very mark away
 *
 * Every mark is different. So a group without a mark has its name in the head, and no subscriber joins a group that
 * matching does not find.
 */
export class ShareNames {
  readonly #table: Table;
  readonly #members: ShareMembers;

  constructor(table: Table, members: ShareMembers) {
    this.#table = table;
    this.#members = members;
  }

  /** False: the filter takes no more groups, or the name is too long. */
  async enter(tenant: string, { topicFilter, shareGroup = '' }: FilterName): Promise<boolean> {
    if (Buffer.byteLength(shareGroup) > SHARE_GROUP_NAME_BYTES_MAX) return false;
    const { ok, old } = await this.#add(tenant, topicFilter, shareGroup);
    const names = namesOf(old);
    const isLookDue = !ok || (!names.includes(shareGroup) && (names.length + 1) % SHARE_GROUPS_LOOK === 0);
    const look = isLookDue ? this.#takeOutUnused(tenant, topicFilter, names) : false;
    // If the name is there already, the look is for others, and may fail.
    const isLess = await (ok && look !== false ? look.catch(ignoreThrottled) : look);
    return ok || (isLess && (await this.#add(tenant, topicFilter, shareGroup)).ok);
  }

  async #add(tenant: string, topicFilter: string, shareGroup: string) {
    const hasRoom = '(attribute_not_exists(g) OR size(g) < :maximum)';
    const isThere = 'contains(g, :name)';
    return await this.#table.update(headKey(tenant, topicFilter), 'SET v = :v ADD g :names', {
      condition: `${hasRoom} OR ${isThere}`,
      values: {
        ':v': number(VERSION),
        ':names': { SS: [shareGroup] },
        ':name': text(shareGroup),
        ':maximum': number(SHARE_GROUPS_MAX),
      },
      returnsOld: true,
    });
  }

  /** True when some names were removed, by this call or by another one at the same time. */
  async #takeOutUnused(tenant: string, topicFilter: string, names: readonly string[]): Promise<boolean> {
    const keyOf = (shareGroup: string) => groupKey(tenant, { topicFilter, shareGroup });
    const found = await batchGet(this.#table, names.map(keyOf));
    let unused: readonly string[] = names.filter((name) => this.#members.isEmpty(found.get(keyOf(name))));
    for (const name of unused) await this.#members.removeEnded(keyOf(name), found.get(keyOf(name)));
    unused = unused.slice(0, TAKEN_OUT_AT_ONCE);
    while (unused.length > 0) {
      const mark = this.#table.settings.randomId();
      const marks = unused.map((name) => this.#members.marking(keyOf(name), mark));
      const transacted = await transact(this.#table, [
        this.#takingOut(tenant, topicFilter, unused),
        ...marks,
      ]);
      if (transacted.ok || transacted.failed.has(0)) return true;
      // A subscriber has joined meanwhile.
      unused = unused.filter((_, place) => !transacted.failed.has(place + 1));
    }
    return false;
  }

  #takingOut(tenant: string, topicFilter: string, names: readonly string[]): Action {
    const hasNames = 'attribute_exists(g)';
    return {
      key: headKey(tenant, topicFilter),
      update: 'DELETE g :names',
      condition: hasNames,
      values: { ':names': { SS: [...names] } },
    };
  }
}

function namesOf(head: Item | undefined): readonly string[] {
  return head?.g?.SS ?? [];
}

function ignoreThrottled(error: unknown): false {
  if (error instanceof ThrottledError) return false;
  throw error;
}
