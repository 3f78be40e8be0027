import type { ConnectionId, FilterName, SessionRef, SubscribeOutcome, Subscription } from '@apus/broker';
import { DECISIONS_MAX } from '../limits.ts';
import { ContentionError } from '../table/errors.ts';
import { groupKey } from '../table/keys.ts';
import type { Table, Written } from '../table/table.ts';
import type { EntryMap } from './entry-map.ts';
import { writeOwnEntry } from './own-entry.ts';
import { markOf, ShareMembers } from './share-members.ts';
import { ShareNames } from './share-names.ts';
import { ENTRY } from './subscriber-entry.ts';

/**
 * The members of share groups. A subscriber first writes the group's name to the head, where matching finds it, and
 * then joins the group, both before SUBACK. So matching finds every group with members, even after a crash between the
 * two:
 *
 *     subscriber                         the same, again
 *     its list: the subscription
 *     the head: the group's name
 *     (dies, or is throttled)
 *                                        its list: replaced
 *                                        the group: it is no member, so it begins with the head
 *
 * Until then the name of a group without members costs a publish one read.
 */
export class ShareGroups {
  readonly #table: Table;
  readonly #entries: EntryMap;
  readonly #members: ShareMembers;
  readonly #names: ShareNames;

  constructor(table: Table, entries: EntryMap) {
    this.#table = table;
    this.#entries = entries;
    this.#members = new ShareMembers(table);
    this.#names = new ShareNames(table, this.#members);
  }

  /** False: the group takes no more members, or the filter takes no more groups. */
  async put(
    session: SessionRef,
    { topicFilter, shareGroup }: Subscription,
    entry: string,
    outcome: SubscribeOutcome,
  ): Promise<boolean> {
    const { tenant, incarnation } = session;
    const filter = { topicFilter, shareGroup };
    const key = groupKey(tenant, filter);
    if (outcome === 'replaced' && (await this.#entries.replace(key, session, entry)).ok) return true;
    let mark: string | undefined;
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      if (!(await this.#names.enter(tenant, filter))) return false;
      const { ok, old } = await this.#members.add(key, session, entry, mark);
      if (ok) return true;
      if (old?.[ENTRY + incarnation] !== undefined) {
        // The entry is there: a retry of a write that succeeded, or the list lost it in a crash.
        if ((await this.#entries.replace(key, session, entry)).ok) return true;
      } else if (markOf(old) === mark && (await this.#members.removeEnded(key, old)) === 0) return false;
      mark = markOf(old);
    }
    throw new ContentionError('the share group', DECISIONS_MAX);
  }

  /** The member's session has moved from another connection. */
  async moved(session: SessionRef, filter: FilterName, entry: string, from: ConnectionId): Promise<void> {
    await this.#entries.moved(groupKey(session.tenant, filter), session, entry, from);
  }

  async remove(session: SessionRef, filter: FilterName): Promise<Written> {
    const key = groupKey(session.tenant, filter);
    return await writeOwnEntry(this.#table, session, { name: ENTRY + session.incarnation }, (expected) =>
      this.#members.remove(key, session, expected),
    );
  }
}
