import {
  type ConnectionId,
  type FilterName,
  type MatchedFilter,
  type QuotaHolder,
  type SessionRef,
  type SubscribeOutcome,
  type Subscriber,
  type Subscription,
  type SubscriptionStore,
  steadyNow,
} from '@apus/broker';
import type { DynamoBans } from '../identity/bans.ts';
import type { OwnedItems } from '../sessions/owned-items.ts';
import { type SessionList, subscriptionsOf } from '../sessions/session-list.ts';
import { connectionOf } from '../sessions/session-ref.ts';
import { batchDelete } from '../table/batch.ts';
import type { EventCache } from '../table/event-cache.ts';
import { type Incarnation, linkKey, type ShardName } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/values.ts';
import type { Matcher } from './matcher.ts';
import type { Placement } from './placement.ts';
import type { ShapeRegistry } from './shape-registry.ts';
import type { ShardRange, Shards } from './shards.ts';

export interface SubscriptionParts {
  readonly registry: ShapeRegistry;
  readonly list: SessionList;
  readonly placement: Placement;
  readonly matcher: Matcher;
  readonly shards: Shards;
  readonly event: EventCache;
  readonly ownedItems: OwnedItems;
  readonly bans: DynamoBans;
}

/** An event that has not said which topics it publishes to may publish any number of messages to one. */
const MESSAGES_UNKNOWN = Number.POSITIVE_INFINITY;

/** Some subscribers of a shard. */
export interface SubscriberSlice {
  readonly subscribers: readonly Subscriber[];
  /** The last key that was looked at. Undefined: there was none. */
  readonly end: string | undefined;
  /** The `after` of the next slice. Undefined: this is the last one. */
  readonly next: string | undefined;
}

/** The items that a frame needs, as far as it is known before it is handled. */
export interface FramePlan {
  readonly connectionId: string;
  readonly tenant: string;
  /** The topic of each PUBLISH in the frame, repetitions included. */
  readonly topicNames: readonly string[];
}

/** Subscriptions: each session's own list, and for each filter its subscribers. */
export class DynamoSubscriptions implements SubscriptionStore {
  readonly #table: Table;
  readonly #parts: SubscriptionParts;

  constructor(table: Table, parts: SubscriptionParts) {
    this.#table = table;
    this.#parts = parts;
  }

  async put(
    session: SessionRef,
    subscriptions: readonly Subscription[],
    maximum: number,
    holder?: QuotaHolder,
  ): Promise<readonly SubscribeOutcome[]> {
    this.#changes();
    const outcomes: SubscribeOutcome[] = [];
    let waitMs = 0;
    for (const subscription of subscriptions) {
      const shapeWaitMs = await this.#parts.registry.enter(session.tenant, subscription.topicFilter, holder);
      outcomes.push(
        shapeWaitMs === undefined ? 'over-limit' : await this.#put(session, subscription, maximum),
      );
      waitMs = Math.max(waitMs, shapeWaitMs ?? 0);
    }
    if (waitMs > 0) await this.#table.settings.sleep(waitMs);
    // Every shape that was entered has been waited for.
    if (waitMs > 0)
      for (const [index, { topicFilter }] of subscriptions.entries()) {
        if (outcomes[index] !== 'over-limit') this.#parts.registry.waited(session.tenant, topicFilter);
      }
    return outcomes;
  }

  async remove(session: SessionRef, filters: readonly FilterName[]): Promise<readonly boolean[]> {
    this.#changes();
    const existed: boolean[] = [];
    for (const filter of filters) {
      // First out of the filter, then out of the list: after a crash in between the list still names the filter, and
      // it can be removed.
      const isHeld = await this.#parts.placement.remove(session, filter);
      existed.push((await this.#parts.list.remove(session, filter)) || isHeld);
    }
    return existed;
  }

  async clear(session: SessionRef): Promise<void> {
    this.#parts.event.forgetMatches();
    const items = await this.#parts.ownedItems.all(this.#table, session);
    await this.#parts.placement.removeAll(session, subscriptionsOf(items));
    // A list with a TTL is left to TTL.
    const isListed = (item: Item) => item.t === undefined && subscriptionsOf([item]).length > 0;
    await batchDelete(this.#table, items.filter(isListed));
    this.#parts.ownedItems.forget();
  }

  async match(tenant: string, topicName: string, isAnew = false): Promise<readonly MatchedFilter[]> {
    const known = isAnew ? undefined : this.#parts.event.matchOf(tenant, topicName);
    if (known !== undefined) return await known;
    const matched = this.#match(tenant, topicName);
    this.#parts.event.keepMatch(tenant, topicName, matched);
    return await matched;
  }

  async members(tenant: string, filter: FilterName): Promise<readonly Subscriber[]> {
    return await this.#parts.matcher.members(tenant, filter);
  }

  async moved(
    session: SessionRef,
    from: ConnectionId,
    subscriptions: readonly Subscription[],
  ): Promise<void> {
    if (subscriptions.length === 0) return;
    this.#changes();
    if (connectionOf(session) !== from) await this.#parts.list.moved(session);
    await this.#parts.placement.moved(session, from, subscriptions);
  }

  async list(session: Incarnation): Promise<readonly Subscription[]> {
    return subscriptionsOf(await this.#parts.list.items(session));
  }

  /**
   * A slice of one shard's subscribers, at most `limit`, with their present sessions. It ends after `to`, or at the
   * end of the shard.
   */
  async readShard(shard: ShardName, range: ShardRange): Promise<SubscriberSlice> {
    const { tenant, topicFilter } = shard;
    const { entries, end, next } = await this.#parts.shards.page(shard, range);
    const [matched] = await this.#parts.matcher.subscribers(tenant, [
      { topicFilter, entries, unreadShards: 0 },
    ]);
    return { subscribers: matched?.subscribers ?? [], end, next };
  }

  /**
   * How many subscribers a shard has. Reads it by one Query of at most 1 MB: 0.025 units for each.
   */
  async countShard(shard: ShardName): Promise<number> {
    const { entries } = await this.#parts.shards.page(shard, { after: undefined });
    return entries.length;
  }

  /** The workers of a wide filter are behind: for some seconds `match` says so. */
  async markBehind(tenant: string, topicFilter: string): Promise<void> {
    await this.#parts.shards.markBehind(tenant, topicFilter);
  }

  /**
   * Reads the connection and the heads of all topics of a frame in one call, and the list of bans if it is due;
   * `match` and `load` then find them.
   */
  async readAhead({ connectionId, tenant, topicNames }: FramePlan): Promise<void> {
    const { registry, matcher, event, bans } = this.#parts;
    const messages = new Map<string, number>();
    for (const topicName of topicNames) messages.set(topicName, (messages.get(topicName) ?? 0) + 1);
    const distinct = [...messages.keys()];
    const candidates = await Promise.all(distinct.map((topicName) => registry.candidates(tenant, topicName)));
    const link = linkKey(connectionId);
    const { wanted } = bans;
    const askedAtMs = steadyNow(this.#table.settings.clock);
    const found = await matcher.readHeads(tenant, candidates.flat(), [link, ...wanted]);
    event.keepLink(connectionId, found.get(link));
    for (const key of wanted) bans.keep(found.get(key), askedAtMs);
    for (const [index, topicName] of distinct.entries()) {
      const filters = candidates[index] ?? [];
      const matched = matcher
        .entries(tenant, filters, found, this.#readsShards)
        .then((entries) => matcher.recipients(tenant, entries, messages.get(topicName) ?? 1));
      event.keepMatch(tenant, topicName, matched);
      await matched;
    }
  }

  async #match(tenant: string, topicName: string): Promise<readonly MatchedFilter[]> {
    const { registry, matcher } = this.#parts;
    const filters = await registry.candidates(tenant, topicName);
    if (filters.length === 0) return [];
    const heads = await matcher.readHeads(tenant, filters);
    const entries = await matcher.entries(tenant, filters, heads, this.#readsShards);
    return await matcher.recipients(tenant, entries, MESSAGES_UNKNOWN);
  }

  get #readsShards(): boolean {
    return this.#table.settings.shards === 'read';
  }

  /** Writes the list first: an entry that a crash leaves behind is then found and removed at the end of the session. */
  async #put(session: SessionRef, subscription: Subscription, maximum: number): Promise<SubscribeOutcome> {
    const { list, placement } = this.#parts;
    const outcome = await list.put(session, subscription, maximum);
    if (outcome === 'over-limit') return outcome;
    if (await placement.put(session, subscription, outcome)) return outcome;
    await list.remove(session, subscription);
    return 'over-limit';
  }

  #changes(): void {
    this.#parts.event.forgetMatches();
    this.#parts.ownedItems.forget();
  }
}
