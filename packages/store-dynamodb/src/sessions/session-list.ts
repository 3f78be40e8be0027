import {
  type FilterName,
  type SessionRef,
  type SubscribeOutcome,
  type Subscription,
  subscriptionWeight,
} from '@apus/broker';
import { LISTED_SUBSCRIPTIONS_MAX, TTL_SLACK_SECONDS } from '../limits.ts';
import { filterHash, type Incarnation, type Key, OWNED, ownedPartition } from '../table/keys.ts';
import { endOf, type Table, type Written } from '../table/table.ts';
import { fromJson, type Item, number, numberOf, text, textOf, toJson, VERSION } from '../table/values.ts';

/** The prefix of attributes that are subscriptions; the hash of the filter follows. */
const LISTED = '=';

/**
 * The subscriptions of a session: one item while they are few, so that the limit is a clause of the write that adds
 * one; each further one is an item of its own, counted in the list (`o`, by weight; `ok` is the mark of the last write
 * that has counted).
 */
export class SessionList {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async put(session: SessionRef, subscription: Subscription, maximum: number): Promise<SubscribeOutcome> {
    const name = LISTED + filterHash(subscription);
    const json = listed(subscription);
    const isNew = 'attribute_not_exists(#subscription)';
    const weight = subscriptionWeight(subscription);
    const room = Math.min(maximum, LISTED_SUBSCRIPTIONS_MAX) - weight;
    const hasRoom = room < 0 ? 'n <= :room' : '(attribute_not_exists(n) OR n <= :room)';
    const hasNoOverflow = '(attribute_not_exists(o) OR o = :none)';
    const ttl = this.#ttlSeconds(session);
    const alsoTtl = ttl === undefined ? '' : ', t = :ttl';
    const written = await this.#table.update(
      listKey(session),
      `SET #subscription = :json, v = :v${alsoTtl} ADD n :weight`,
      {
        condition: `${isNew} AND ${hasRoom} AND ${hasNoOverflow}`,
        names: { '#subscription': name },
        values: {
          ':json': text(json),
          ':v': number(VERSION),
          ':weight': number(weight),
          ':none': number(0),
          ':room': number(room),
          ...(ttl !== undefined && { ':ttl': number(ttl) }),
        },
      },
    );
    if (written.ok) return 'added';
    if (written.old?.[name] !== undefined) return await this.#replace(session, name, json, written);
    return await this.#putOverflow(session, subscription, json, maximum, written.old);
  }

  async remove(session: SessionRef, filter: FilterName): Promise<boolean> {
    const isListed = 'attribute_exists(#subscription)';
    const weight = subscriptionWeight(filter);
    const { ok, old, isRetry } = await this.#table.update(
      listKey(session),
      'REMOVE #subscription ADD n :less',
      {
        condition: isListed,
        names: { '#subscription': LISTED + filterHash(filter) },
        values: { ':less': number(-weight) },
      },
    );
    if (ok || isRetry) return true;
    if ((numberOf(old, 'o') ?? 0) === 0) return false;
    const isThere = 'attribute_exists(p)';
    const overflow = await this.#table.delete(overflowKey(session, filter), { condition: isThere });
    if (overflow.ok) await this.#countOverflow(session, -weight, Number.POSITIVE_INFINITY);
    return overflow.ok || overflow.isRetry;
  }

  /** The session has moved to another connection, which may live longer. */
  async moved(session: SessionRef): Promise<void> {
    const ttl = this.#ttlSeconds(session);
    if (ttl === undefined) return;
    const isThere = 'attribute_exists(p)';
    await this.#table.update(listKey(session), 'SET t = :ttl', {
      condition: isThere,
      values: { ':ttl': number(ttl) },
    });
  }

  async items(session: Incarnation): Promise<Item[]> {
    const p = ownedPartition(session);
    return await this.#table.queryAll({ p, from: OWNED.list, to: endOf(OWNED.overflow) });
  }

  /** The TTL of the list, if the session ends with its connection and it is known how long that can live. */
  #ttlSeconds({ attachment }: SessionRef): number | undefined {
    const { connectionSecondsMax } = this.#table.settings;
    if (connectionSecondsMax === undefined || attachment?.keepsNothing !== true) return undefined;
    return this.#table.nowSeconds() + connectionSecondsMax + TTL_SLACK_SECONDS;
  }

  async #replace(
    session: SessionRef,
    name: string,
    json: string,
    failed: Written,
  ): Promise<SubscribeOutcome> {
    // It is the same; or our own write, whose answer was lost.
    if (textOf(failed.old, name) === json) return failed.isRetry ? 'added' : 'replaced';
    await this.#table.update(listKey(session), 'SET #subscription = :json', {
      names: { '#subscription': name },
      values: { ':json': text(json) },
    });
    return 'replaced';
  }

  async #putOverflow(
    session: SessionRef,
    subscription: Subscription,
    json: string,
    maximum: number,
    list: Item | undefined,
  ): Promise<SubscribeOutcome> {
    const key = overflowKey(session, subscription);
    const hasOverflow = (numberOf(list, 'o') ?? 0) > 0;
    const weight = subscriptionWeight(subscription);
    const room = maximum - (numberOf(list, 'n') ?? 0) - weight;
    if (!hasOverflow && room < 0) return 'over-limit';
    const isNew = 'attribute_not_exists(p)';
    const item = { p: text(key.p), s: text(key.s), v: number(VERSION), d: text(json) };
    const { ok, old, isRetry } = await this.#table.put(item, { condition: isNew });
    // Our own write, whose answer was lost, is there and not counted yet.
    const isOwn = isRetry && textOf(old, 'd') === json;
    if (!ok && !isOwn) {
      await this.#table.put(item);
      return 'replaced';
    }
    if (await this.#countOverflow(session, weight, room)) return 'added';
    await this.#table.delete(key);
    return 'over-limit';
  }

  async #countOverflow(session: SessionRef, change: number, room: number): Promise<boolean> {
    const hasRoom = room < 0 ? 'o <= :room' : '(attribute_not_exists(o) OR o <= :room)';
    const isNotCounted = '(attribute_not_exists(ok) OR ok <> :mark)';
    const mark = this.#table.settings.randomId();
    const { ok, old } = await this.#table.update(listKey(session), 'SET ok = :mark ADD o :change', {
      condition: Number.isFinite(room) ? `${isNotCounted} AND ${hasRoom}` : isNotCounted,
      values: {
        ':mark': text(mark),
        ':change': number(change),
        ...(Number.isFinite(room) && { ':room': number(room) }),
      },
    });
    // The mark of our own write, whose answer was lost.
    return ok || textOf(old, 'ok') === mark;
  }
}

/** The subscriptions in items of a session's partition. */
export function subscriptionsOf(items: readonly Item[]): Subscription[] {
  const subscriptions: Subscription[] = [];
  for (const item of items) {
    if (textOf(item, 's')?.startsWith(OWNED.overflow)) subscriptions.push(parse(textOf(item, 'd')));
    else if (textOf(item, 's') === OWNED.list) {
      for (const [name, value] of Object.entries(item))
        if (name.startsWith(LISTED)) subscriptions.push(parse(value.S));
    }
  }
  return subscriptions;
}

function parse(json = '{}'): Subscription {
  // JSON leaves undefined members out.
  const { shareGroup, subscriptionIdentifier, ...fields } = fromJson(json) as Subscription;
  return { ...fields, shareGroup, subscriptionIdentifier };
}

/** Which connection a reader is on, its entry says. */
function listed(subscription: Subscription): string {
  return toJson(subscription.reader === undefined ? subscription : { ...subscription, reader: {} });
}

function listKey(session: SessionRef): Key {
  return { p: ownedPartition(session), s: OWNED.list };
}

function overflowKey(session: SessionRef, filter: FilterName): Key {
  return { p: ownedPartition(session), s: OWNED.overflow + filterHash(filter) };
}
