import type { Attachment, FilterName, MatchedFilter, SessionRef, Subscriber } from '@apus/broker';
import { SHARE_MEMBERS_READ } from '../limits.ts';
import { begunBy, storedRecordOf } from '../queue/records.ts';
import { recordOf } from '../sessions/session-item.ts';
import { SessionSnapshot } from '../sessions/session-ref.ts';
import { batchGet, type Found } from '../table/batch.ts';
import { groupKey, headKey, type Key, recordKey, sessionItemKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/values.ts';
import { unarmedOf } from './conflated-groups.ts';
import { isBehind, type Shards, shardsOf } from './shards.ts';
import { entriesOf, readerOf, type SubscriberEntry } from './subscriber-entry.ts';

/** A filter with the entries of its head, and of its shards where they were read. */
export interface FilterEntries extends FilterName {
  readonly entries: readonly SubscriberEntry[];
  /** Shards that were not read; 0: none, `entries` are all. */
  readonly unreadShards: number;
  /** The workers of these shards are behind. */
  readonly isBehind?: boolean;
  /** Intervals of its conflated groups that have no tick. */
  readonly unarmedMs?: readonly number[];
}

const NONE: readonly never[] = [];

/** Turns heads into subscribers, with as few reads as there are kinds of items: heads, groups, sessions. */
export class Matcher {
  readonly #table: Table;
  readonly #shards: Shards;

  constructor(table: Table, shards: Shards) {
    this.#table = table;
    this.#shards = shards;
  }

  /** Reads heads, together with other items that the caller names. */
  async readHeads(tenant: string, filters: readonly string[], others: readonly Key[] = []): Promise<Found> {
    return await batchGet(this.#table, [...filters.map((filter) => headKey(tenant, filter)), ...others]);
  }

  /** The filters that have subscribers, each once for each share group; the shards of wide ones are read or not. */
  async entries(
    tenant: string,
    filters: readonly string[],
    heads: Found,
    readsShards: boolean,
  ): Promise<FilterEntries[]> {
    const present = filters.flatMap((topicFilter) => {
      const head = heads.get(headKey(tenant, topicFilter));
      return head === undefined ? [] : [{ topicFilter, head }];
    });
    const plain = await Promise.all(
      present.map(({ topicFilter, head }) => this.#plain(tenant, topicFilter, head, readsShards)),
    );
    const groups = await this.#groups(tenant, present);
    return [...plain, ...groups].filter(
      ({ entries, unreadShards, unarmedMs = NONE }) =>
        entries.length > 0 || unreadShards > 0 || unarmedMs.length > 0,
    );
  }

  /**
   * The subscribers that may get the messages of a topic in an event. In a share group one member gets each message,
   * so as many members as there are messages are chosen at random, at most `SHARE_MEMBERS_READ`. If none of them is
   * connected, more are chosen, and then all.
   */
  async recipients(
    tenant: string,
    filters: readonly FilterEntries[],
    messages: number,
  ): Promise<readonly MatchedFilter[]> {
    const shuffled = filters.map((filter) => this.#shuffled(filter));
    const few = Math.min(messages, SHARE_MEMBERS_READ);
    let matched = await this.subscribers(
      tenant,
      shuffled.map((filter) => membersOf(filter, 0, few)),
    );
    for (const [from, to] of [
      [few, SHARE_MEMBERS_READ],
      [SHARE_MEMBERS_READ, Number.POSITIVE_INFINITY],
    ] as const) {
      const others = shuffled.map((filter, place) =>
        matched[place]?.subscribers.some(isConnected)
          ? { ...filter, entries: [] }
          : membersOf(filter, from, to),
      );
      if (others.every(({ entries }) => entries.length === 0)) continue;
      const more = await this.subscribers(tenant, others);
      matched = matched.map((each, place) => ({
        ...each,
        subscribers: [...each.subscribers, ...(more[place]?.subscribers ?? [])],
      }));
    }
    return matched;
  }

  /** The members of a share group, from a random one on. */
  #shuffled(filter: FilterEntries): FilterEntries {
    const { shareGroup, entries } = filter;
    if (shareGroup === undefined) return filter;
    const first = Math.floor(this.#table.settings.random() * entries.length);
    return { ...filter, entries: [...entries.slice(first), ...entries.slice(0, first)] };
  }

  /** The subscribers of all these filters: one read for each session that is not written in its entry. */
  async subscribers(tenant: string, filters: readonly FilterEntries[]): Promise<MatchedFilter[]> {
    const sessions = await this.#sessions(tenant, filters);
    return filters.map(({ topicFilter, shareGroup, entries, unreadShards, isBehind = false, unarmedMs }) => ({
      topicFilter,
      shareGroup,
      subscribers: entries
        .filter((entry) => shareGroup === undefined || isThere(tenant, entry, sessions))
        .map((entry) => subscriberOf(tenant, { topicFilter, shareGroup }, entry, sessions)),
      ...(unreadShards > 0 && { shards: unreadShards, isBehind }),
      ...(unarmedMs !== undefined && unarmedMs.length > 0 && { unarmedMs }),
    }));
  }

  /**
   * A session's record decides on its messages of QoS 1 and 2, and names its connection; without a record the session
   * item does. At QoS 0 the session item is enough. It also decides which member of a share group is chosen, since it
   * is the first to be updated when a client disconnects.
   */
  async #sessions(tenant: string, filters: readonly FilterEntries[]): Promise<Found> {
    const itemKey = ({ clientId }: SubscriberEntry) => sessionItemKey(tenant, clientId);
    const keyOfRecord = (entry: SubscriberEntry) => recordKey({ tenant, ...entry });
    const byRecord: SubscriberEntry[] = [];
    const byItem: SubscriberEntry[] = [];
    for (const { entries, shareGroup } of filters)
      for (const entry of entries) {
        if (!isReferred(entry, shareGroup)) continue;
        if (isByRecord(entry, shareGroup)) byRecord.push(entry);
        else byItem.push(entry);
      }
    const found = await batchGet(this.#table, [...byItem.map(itemKey), ...byRecord.map(keyOfRecord)]);
    const withoutRecord = byRecord.filter((entry) => found.get(keyOfRecord(entry)) === undefined);
    found.addAll(await batchGet(this.#table, withoutRecord.map(itemKey)));
    return found;
  }

  async members(tenant: string, filter: FilterName): Promise<readonly Subscriber[]> {
    const { topicFilter, shareGroup } = filter;
    const heads = await this.readHeads(tenant, shareGroup === undefined ? [topicFilter] : []);
    const found =
      shareGroup === undefined
        ? await this.entries(tenant, [topicFilter], heads, true)
        : [await this.#group(tenant, filter)];
    const matched = await this.subscribers(
      tenant,
      found.filter((each) => each.shareGroup === shareGroup),
    );
    return matched.flatMap(({ subscribers }) => subscribers);
  }

  async #plain(
    tenant: string,
    topicFilter: string,
    head: Item,
    readsShards: boolean,
  ): Promise<FilterEntries> {
    const shards = shardsOf(head);
    const inline = entriesOf(head, this.#table.nowSeconds());
    if (!readsShards) {
      const nowMs = this.#table.settings.clock.now();
      const isLate = isBehind(head, nowMs);
      return {
        topicFilter,
        entries: inline,
        unreadShards: shards,
        isBehind: isLate,
        unarmedMs: unarmedOf(head, nowMs),
      };
    }
    const sharded = await this.#shards.all(tenant, topicFilter, shards);
    return { topicFilter, entries: [...inline, ...sharded], unreadShards: 0 };
  }

  async #groups(
    tenant: string,
    present: readonly { topicFilter: string; head: Item }[],
  ): Promise<FilterEntries[]> {
    const names = present.flatMap(({ topicFilter, head }) =>
      (head.g?.SS ?? []).map((shareGroup) => ({ topicFilter, shareGroup })),
    );
    const found = await batchGet(
      this.#table,
      names.map((name) => groupKey(tenant, name)),
    );
    const nowSeconds = this.#table.nowSeconds();
    return names.map((name) => ({
      ...name,
      entries: entriesOf(found.get(groupKey(tenant, name)), nowSeconds),
      unreadShards: 0,
    }));
  }

  async #group(tenant: string, name: FilterName): Promise<FilterEntries> {
    const item = await this.#table.get(groupKey(tenant, name));
    return { ...name, entries: entriesOf(item, this.#table.nowSeconds()), unreadShards: 0 };
  }
}

/** Some members of a share group. Other filters count as one group: all their subscribers are in the first part. */
function membersOf(filter: FilterEntries, from: number, to: number): FilterEntries {
  if (filter.shareGroup === undefined) return from === 0 ? filter : { ...filter, entries: [] };
  return { ...filter, entries: filter.entries.slice(from, to) };
}

function isConnected({ session }: Subscriber): boolean {
  return session.attachment !== undefined;
}

/**
 * Whether the session is not written in its entry. A member of a share group is read even if it keeps nothing: another
 * member gets the messages that are lost, so its queue is needed.
 */
function isReferred({ attachment }: SubscriberEntry, shareGroup: string | undefined): boolean {
  return attachment === undefined || shareGroup !== undefined;
}

/** See `#sessions`. */
function isByRecord({ qos }: SubscriberEntry, shareGroup: string | undefined): boolean {
  return shareGroup === undefined && qos > 0;
}

function subscriberOf(tenant: string, name: FilterName, entry: SubscriberEntry, sessions: Found): Subscriber {
  const { qos, noLocal, retainAsPublished, subscriptionIdentifier } = entry;
  const { topicFilter, shareGroup } = name;
  const reader = readerOf(entry);
  return {
    session: sessionOf(
      tenant,
      entry,
      isReferred(entry, shareGroup) ? sessions : undefined,
      isByRecord(entry, shareGroup),
    ),
    subscription: {
      ...{ topicFilter, shareGroup, qos, noLocal, retainAsPublished, subscriptionIdentifier },
      ...(reader !== undefined && { reader }),
    },
  };
}

/** False for an ended member of a share group whose subscriptions are not cleared yet: it would swallow the message. */
function isThere(tenant: string, { clientId, incarnation }: SubscriberEntry, sessions: Found): boolean {
  const item = sessions.get(sessionItemKey(tenant, clientId));
  return item !== undefined && recordOf(item, tenant, clientId)?.session.incarnation === incarnation;
}

/** An incarnation that was discarded and not cleared yet is shown as offline. */
function sessionOf(
  tenant: string,
  entry: SubscriberEntry,
  sessions: Found | undefined,
  isRecordRead: boolean,
): SessionRef {
  const inline: Attachment | undefined = entry.attachment;
  if (sessions === undefined) return new SessionSnapshot({ tenant, ...entry }, inline);
  const record = isRecordRead ? sessions.get(recordKey({ tenant, ...entry })) : undefined;
  if (record !== undefined) {
    const stored = storedRecordOf(record);
    return new SessionSnapshot({ tenant, ...entry }, stored.attachment, { stored });
  }
  const item = sessions.get(sessionItemKey(tenant, entry.clientId));
  const session = item && recordOf(item, tenant, entry.clientId)?.session;
  if (session?.incarnation === entry.incarnation)
    return isRecordRead
      ? new SessionSnapshot(session, session.attachment, { stored: begunBy(session) })
      : session;
  return new SessionSnapshot({ tenant, ...entry }, undefined);
}
