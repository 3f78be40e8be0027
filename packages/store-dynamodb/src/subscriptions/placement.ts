import type { ConnectionId, FilterName, SessionRef, SubscribeOutcome, Subscription } from '@apus/broker';
import { CLOCK_SKEW_MS } from '../limits.ts';
import { headKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type DynamoConflatedGroups, groupsOf, storedFilterOf } from './conflated-groups.ts';
import type { EntryMap } from './entry-map.ts';
import { type Shards, shardsOf } from './shards.ts';
import type { ShareGroups } from './share-groups.ts';
import { packEntry } from './subscriber-entry.ts';

/** Filters that are known to be wide. They stay wide; asking their heads again would cost a write. */
const WIDE_REMEMBERED_MAX = 10_000;

/** Filters of a session that ends or moves, written side by side. */
const WRITTEN_AT_ONCE = 25;

/**
 * Where a subscriber stands: in the head of its filter while there is room, then in a shard; a member of a share group
 * in the group's item.
 *
 * A subscriber never moves between head and shard. The process that took the PUBLISH serves the head, even of a wide
 * filter; only jobs serve shards. If a subscriber moved while a message is on its way, a later message would overtake
 * it:
 *
 *     publisher                          subscriber                        worker
 *     1: a job for the shard
 *                                        (moved from the shard to the head)
 *     2: posts to the head               gets 2
 *                                                                          posts 1: the subscriber gets it after 2,
 *                                                                          or, as it stands there no more, never
 */
export class Placement {
  readonly #table: Table;
  readonly #entries: EntryMap;
  readonly #shards: Shards;
  readonly #groups: ShareGroups;
  readonly #conflated: DynamoConflatedGroups;
  /** How many shards wide filters have. A number may be too small: a fan-out visits those shards as well. */
  readonly #wide = new Map<string, number>();

  constructor(
    table: Table,
    entries: EntryMap,
    shards: Shards,
    groups: ShareGroups,
    conflated: DynamoConflatedGroups,
  ) {
    this.#table = table;
    this.#entries = entries;
    this.#shards = shards;
    this.#groups = groups;
    this.#conflated = conflated;
  }

  /** False: the share group takes no more members, or the filter takes no more groups. */
  async put(session: SessionRef, subscription: Subscription, outcome: SubscribeOutcome): Promise<boolean> {
    const entry = packEntry(session, subscription, this.#endsAtSeconds());
    if (subscription.shareGroup !== undefined)
      return await this.#groups.put(session, subscription, entry, outcome);
    if (subscription.conflateMs !== undefined)
      await this.#putConflated(session, subscription.topicFilter, subscription.conflateMs, entry, outcome);
    else await this.#putPlain(session, subscription.topicFilter, entry, outcome);
    return true;
  }

  async remove(session: SessionRef, filter: FilterName): Promise<boolean> {
    const { tenant } = session;
    const { topicFilter, shareGroup } = filter;
    if (shareGroup !== undefined) {
      const { ok, isRetry } = await this.#groups.remove(session, filter);
      return ok || isRetry;
    }
    const { ok, old, isRetry } = await this.#entries.remove(headKey(tenant, topicFilter), session);
    if (ok) return true;
    const shards = shardsOf(old);
    if (shards > 0 && (await this.#shards.remove(session, topicFilter, shards))) return true;
    return (await this.#leaveGroups(session, topicFilter, groupsOf(old))) || isRetry;
  }

  /**
   * The session has moved from another connection. Changes only entries that carry that one, so a late handler cannot
   * bring back a connection that the session has left.
   */
  async moved(
    session: SessionRef,
    from: ConnectionId,
    subscriptions: readonly Subscription[],
  ): Promise<void> {
    for (let start = 0; start < subscriptions.length; start += WRITTEN_AT_ONCE) {
      const some = subscriptions.slice(start, start + WRITTEN_AT_ONCE);
      await Promise.all(some.map((subscription) => this.#moved(session, from, subscription)));
    }
  }

  async #moved(session: SessionRef, from: ConnectionId, subscription: Subscription): Promise<void> {
    const { tenant } = session;
    const { topicFilter, shareGroup, conflateMs } = subscription;
    const entry = packEntry(session, subscription, this.#endsAtSeconds());
    if (shareGroup !== undefined) return await this.#groups.moved(session, subscription, entry, from);
    if (conflateMs !== undefined) {
      const stored = storedFilterOf(topicFilter, conflateMs);
      const shards = await this.#shards.widen(tenant, stored);
      await this.#shards.moved(session, stored, shards, entry, from);
      return;
    }
    const { ok, old } = await this.#entries.moved(headKey(tenant, topicFilter), session, entry, from);
    const shards = ok ? 0 : shardsOf(old);
    if (shards > 0) await this.#shards.moved(session, topicFilter, shards, entry, from);
  }

  /** The session is over: its entries are removed, whatever connection they carry. */
  async removeAll(session: SessionRef, filters: readonly FilterName[]): Promise<void> {
    const ended = { ...session, attachment: undefined };
    for (let start = 0; start < filters.length; start += WRITTEN_AT_ONCE) {
      const some = filters.slice(start, start + WRITTEN_AT_ONCE);
      await Promise.all(some.map((filter) => this.remove(ended, filter)));
    }
  }

  /**
   * The subscribers of a group stand in shards, as if the group were a wide filter. A subscriber that had another kind
   * of subscription stands in both for a moment.
   */
  async #putConflated(
    session: SessionRef,
    topicFilter: string,
    intervalMs: number,
    entry: string,
    outcome: SubscribeOutcome,
  ): Promise<void> {
    const { tenant } = session;
    const stored = storedFilterOf(topicFilter, intervalMs);
    const key = headKey(tenant, stored);
    const shards = this.#wide.get(key.p) ?? (await this.#shards.widen(tenant, stored));
    const isReplaced = outcome === 'replaced' && (await this.#shards.replace(session, stored, shards, entry));
    if (!isReplaced) this.#remember(key.p, await this.#shards.add(session, stored, shards, entry));
    await this.#conflated.join({ tenant, topicFilter, intervalMs });
    if (outcome === 'replaced' && !isReplaced) await this.#leaveOthers(session, topicFilter, intervalMs);
  }

  /** Removes the plain subscription, and those in other groups. */
  async #leaveOthers(session: SessionRef, topicFilter: string, intervalMs: number): Promise<void> {
    const { tenant } = session;
    const { ok, old } = await this.#entries.remove(headKey(tenant, topicFilter), session);
    if (ok) return;
    const shards = shardsOf(old);
    if (shards > 0 && (await this.#shards.remove(session, topicFilter, shards))) return;
    const others = groupsOf(old).filter((each) => each !== intervalMs);
    await this.#leaveGroups(session, topicFilter, others);
  }

  async #leaveGroups(
    session: SessionRef,
    topicFilter: string,
    intervalsMs: readonly number[],
  ): Promise<boolean> {
    for (const intervalMs of intervalsMs) {
      const stored = storedFilterOf(topicFilter, intervalMs);
      const shards = await this.#shards.widen(session.tenant, stored);
      if (await this.#shards.remove(session, stored, shards)) return true;
    }
    return false;
  }

  async #putPlain(
    session: SessionRef,
    topicFilter: string,
    entry: string,
    outcome: SubscribeOutcome,
  ): Promise<void> {
    const { tenant } = session;
    const key = headKey(tenant, topicFilter);
    let groups: readonly number[] = [];
    if (outcome === 'replaced') {
      const replaced = await this.#entries.replace(key, session, entry);
      if (replaced.ok) return;
      const shards = shardsOf(replaced.old);
      if (shards > 0 && (await this.#shards.replace(session, topicFilter, shards, entry))) return;
      groups = groupsOf(replaced.old);
    }
    await this.#add(session, topicFilter, entry);
    await this.#leaveGroups(session, topicFilter, groups);
  }

  async #add(session: SessionRef, topicFilter: string, entry: string): Promise<void> {
    const key = headKey(session.tenant, topicFilter);
    const shards = this.#wide.get(key.p) ?? (await this.#putInline(session, topicFilter, entry));
    if (shards === 0) return;
    this.#remember(key.p, await this.#shards.add(session, topicFilter, shards, entry));
  }

  /** Returns 0, or the number of shards of a filter whose head has no room. */
  async #putInline(session: SessionRef, topicFilter: string, entry: string): Promise<number> {
    const { tenant } = session;
    const key = headKey(tenant, topicFilter);
    const maximum = this.#table.settings.inlineSubscribersMax;
    const { ok, old } = await this.#entries.add(key, session, entry, maximum);
    if (ok) return 0;
    return shardsOf(old) || (await this.#shards.widen(tenant, topicFilter));
  }

  #remember(partition: string, shards: number): void {
    if (this.#wide.size >= WIDE_REMEMBERED_MAX) this.#wide.clear();
    this.#wide.set(partition, shards);
  }

  /** When its connection is over by any clock: a clock that is ahead must not ignore it in its last seconds. */
  #endsAtSeconds(): number | undefined {
    const { connectionSecondsMax } = this.#table.settings;
    if (connectionSecondsMax === undefined) return undefined;
    return this.#table.nowSeconds() + connectionSecondsMax + CLOCK_SKEW_MS / 1_000;
  }
}
