import { createHash } from 'node:crypto';
import type { ConnectionId, SessionRef } from '@apus/broker';
import { BEHIND_MS, SHARD_SAMPLE, SHARDS_MAX, TTL_SLACK_SECONDS } from '../limits.ts';
import { headKey, type Key, type ShardName, shardPartition } from '../table/keys.ts';
import { endOf, marshalled, type Table, type Written } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';
import { type EntryCondition, entryWith, writeOwnEntry } from './own-entry.ts';
import { carried, type SubscriberEntry, unpackEntry } from './subscriber-entry.ts';

/** The attribute of a shard's item that is the entry. */
const ITEM_ENTRY = 'd';

const NAMES = { '#entry': ITEM_ENTRY };

/** A part of a shard, in the order of its keys. */
export interface ShardRange {
  /** Exclusive; undefined: from the beginning. */
  readonly after: string | undefined;
  /** Inclusive. @default to the end */
  readonly to?: string | undefined;
  readonly limit?: number;
}

export interface ShardPage {
  readonly entries: readonly SubscriberEntry[];
  /** The last key that was looked at. Undefined: there was none. */
  readonly end: string | undefined;
  /** Where the next page begins. Undefined: this is the last. */
  readonly next: string | undefined;
}

/** How many shards the head names. 0: the filter is narrow. */
export function shardsOf(head: Item | undefined): number {
  return numberOf(head, 'k') ?? 0;
}

/** Whether the workers of a wide filter have lately said that they are behind. */
export function isBehind(head: Item | undefined, nowMs: number): boolean {
  return (numberOf(head, 'b') ?? 0) > nowMs;
}

/**
 * The subscribers of a wide filter that are not in its head: an item for each, in shards, each a partition of its own.
 *
 * If a shard is full the filter doubles its shards, and no subscriber moves: it stands in the shard that its hash
 * named when it came, of one shard, or two, or four … It is found by trying those, newest first.
 */
export class Shards {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Makes a narrow filter wide. It stays wide: a fan-out by workers and one by the publisher's handler must not
   * overtake each other.
   */
  async widen(tenant: string, topicFilter: string): Promise<number> {
    const isNarrow = 'attribute_not_exists(k)';
    const { ok, old } = await this.#table.update(headKey(tenant, topicFilter), 'SET k = :one, v = :v', {
      condition: isNarrow,
      values: { ':one': number(1), ':v': number(VERSION) },
    });
    return ok ? 1 : shardsOf(old);
  }

  /**
   * Marks the head, which every publisher reads: the filter's workers are behind, until `BEHIND_MS` from now. One
   * write is enough for the workers of many shards.
   */
  async markBehind(tenant: string, topicFilter: string): Promise<void> {
    const nowMs = this.#table.settings.clock.now();
    const isWide = 'attribute_exists(k)';
    const isNotSaid = '(attribute_not_exists(b) OR b < :soon)';
    await this.#table.update(headKey(tenant, topicFilter), 'SET b = :until', {
      condition: `${isWide} AND ${isNotSaid}`,
      values: { ':until': number(nowMs + BEHIND_MS), ':soon': number(nowMs + BEHIND_MS / 2) },
    });
  }

  /**
   * Adds a subscriber to a shard. Returns the number of shards, if the call has learned of more; otherwise `shards`.
   */
  async add(session: SessionRef, topicFilter: string, shards: number, entry: string): Promise<number> {
    const { tenant, incarnation } = session;
    const shard = shardFor(incarnation, shards);
    const key = { p: shardPartition(tenant, topicFilter, shard), s: incarnation };
    const { endsAtSeconds } = unpackEntry(incarnation, entry);
    const isNew = 'attribute_not_exists(p)';
    const { ok } = await this.#table.put(
      {
        ...marshalled(key),
        v: number(VERSION),
        d: text(entry),
        // A crash may keep it from being removed at the end of its connection.
        ...(endsAtSeconds !== undefined && { t: number(endsAtSeconds + TTL_SLACK_SECONDS) }),
      },
      { condition: isNew },
    );
    // The entry is there: a retry of a write that succeeded, or the list lost it in a crash.
    if (!ok) await this.#replaceOwn(key, session, entry);
    if (this.#table.settings.random() * SHARD_SAMPLE >= 1) return shards;
    return await this.#growFull(tenant, topicFilter, shards, shard);
  }

  async replace(session: SessionRef, topicFilter: string, shards: number, entry: string): Promise<boolean> {
    for (const key of keysOf(session, topicFilter, shards))
      if ((await this.#replaceOwn(key, session, entry)).ok) return true;
    return false;
  }

  /** Replaces the entry if it carries the connection `from`. */
  async moved(
    session: SessionRef,
    topicFilter: string,
    shards: number,
    entry: string,
    from: ConnectionId,
  ): Promise<void> {
    for (const key of keysOf(session, topicFilter, shards))
      if ((await this.#replace(key, entry, entryWith(carried(from)))).ok) return;
  }

  async remove(session: SessionRef, topicFilter: string, shards: number): Promise<boolean> {
    for (const key of keysOf(session, topicFilter, shards)) {
      const { ok } = await writeOwnEntry(this.#table, session, { name: ITEM_ENTRY }, (expected) =>
        this.#table.delete(key, { ...expected, names: NAMES }),
      );
      if (ok) return true;
    }
    return false;
  }

  async #replaceOwn(key: Key, session: SessionRef, entry: string): Promise<Written> {
    return await writeOwnEntry(this.#table, session, { name: ITEM_ENTRY, entry }, (expected) =>
      this.#replace(key, entry, expected),
    );
  }

  async #replace(key: Key, entry: string, { condition, values }: EntryCondition): Promise<Written> {
    const { endsAtSeconds } = unpackEntry(key.s, entry);
    const update = endsAtSeconds === undefined ? 'SET #entry = :entry' : 'SET #entry = :entry, t = :ttl';
    return await this.#table.update(key, update, {
      condition,
      names: NAMES,
      values: {
        ...values,
        ':entry': text(entry),
        ...(endsAtSeconds !== undefined && { ':ttl': number(endsAtSeconds + TTL_SLACK_SECONDS) }),
      },
    });
  }

  /** The subscribers of one shard, a page of at most 1 MB (or `limit`) at a time. */
  async page({ tenant, topicFilter, shard }: ShardName, range: ShardRange): Promise<ShardPage> {
    const { after, to = endOf(''), limit } = range;
    const page = await this.#table.query({
      p: shardPartition(tenant, topicFilter, shard),
      from: ' ',
      to,
      after,
      attributes: ['s', 'd'],
      ...(limit !== undefined && { limit }),
    });
    const nowSeconds = this.#table.nowSeconds();
    const entries = page.items
      .map((item) => unpackEntry(textOf(item, 's') ?? '', textOf(item, 'd') ?? '[]'))
      .filter(({ endsAtSeconds }) => endsAtSeconds === undefined || endsAtSeconds > nowSeconds);
    return { entries, end: page.next ?? textOf(page.items.at(-1), 's'), next: page.next };
  }

  async all(tenant: string, topicFilter: string, shards: number): Promise<SubscriberEntry[]> {
    const numbers = Array.from({ length: shards }, (_, shard) => shard);
    const each = await Promise.all(numbers.map((shard) => this.#shard(tenant, topicFilter, shard)));
    return each.flat();
  }

  async #shard(tenant: string, topicFilter: string, shard: number): Promise<SubscriberEntry[]> {
    const entries: SubscriberEntry[] = [];
    let after: string | undefined;
    do {
      const page = await this.page({ tenant, topicFilter, shard }, { after });
      entries.push(...page.entries);
      after = page.next;
    } while (after !== undefined);
    return entries;
  }

  /**
   * One joining subscriber in thirty-two counts its shard. If two find it full, one of them doubles the shards. A
   * shard that existed before the last doubling does not count: its subscribers did not move, so it is still full, and
   * would double the shards again at once.
   */
  async #growFull(tenant: string, topicFilter: string, shards: number, shard: number): Promise<number> {
    const isOlder = shards > 1 && shard < shards / 2;
    if (shards >= SHARDS_MAX || isOlder) return shards;
    const { length } = await this.#shard(tenant, topicFilter, shard);
    if (length < this.#table.settings.shardSubscribers) return shards;
    const hasNotGrown = 'k = :shards';
    const { ok, old } = await this.#table.update(headKey(tenant, topicFilter), 'SET k = :doubled', {
      condition: hasNotGrown,
      values: { ':shards': number(shards), ':doubled': number(shards * 2) },
    });
    return ok ? shards * 2 : Math.max(shards, shardsOf(old));
  }
}

/** A hash that is the same for the same subscriber, and evenly spread. */
function hashNumber(incarnation: string): number {
  return createHash('sha256').update(incarnation).digest().readUInt32BE(0);
}

export function shardFor(incarnation: string, shards: number): number {
  return hashNumber(incarnation) % shards;
}

function keysOf({ tenant, incarnation }: SessionRef, topicFilter: string, shards: number): Key[] {
  return [...candidateShards(incarnation, shards)].map((shard) => ({
    p: shardPartition(tenant, topicFilter, shard),
    s: incarnation,
  }));
}

/** Where a subscriber may stand: the number of shards is always a power of two. */
function candidateShards(incarnation: string, shards: number): Set<number> {
  const candidates = new Set<number>();
  for (let count = shards; count >= 1; count /= 2) candidates.add(shardFor(incarnation, count));
  return candidates;
}
