import type { MatchedFilter, Subscriber, Subscription } from '@apus/broker';
import type { MemorySession } from './memory-session.ts';

/** One session's subscription, as its filter and its session both refer to it. */
export interface HeldSubscription extends Subscriber {
  readonly session: MemorySession;
  /** Replaced in place when the session subscribes again. */
  subscription: Subscription;
  readonly among: SubscriberList;
  /** Its index in `among.subscribers`. */
  index: number;
}

/** A distinct condition of a filter. */
interface CountedCondition {
  /** The identity that has brought it. */
  readonly holder: string;
  count: number;
}

/** The subscribers of one filter: plain ones, or the members of one share group. Returned without a copy. */
export class SubscriberList implements MatchedFilter {
  readonly topicFilter: string;
  readonly shareGroup: string | undefined;
  subscribers: HeldSubscription[] = [];
  /** Undefined, as nearly always: none of them has a condition. */
  conditions: Map<string, CountedCondition> | undefined;

  constructor(topicFilter: string, shareGroup: string | undefined) {
    this.topicFilter = topicFilter;
    this.shareGroup = shareGroup;
  }

  add(session: MemorySession, subscription: Subscription): HeldSubscription {
    const held = { session, subscription, among: this, index: this.subscribers.length };
    // An array that grows by its first push takes room for seventeen; most filters have one subscriber.
    if (held.index === 0) this.subscribers = [held];
    else this.subscribers.push(held);
    return held;
  }

  /** A subscriber has one more condition. */
  addCondition({ where }: Subscription, { state }: MemorySession): void {
    if (where === undefined) return;
    this.conditions ??= new Map();
    const known = this.conditions.get(where);
    if (known !== undefined) known.count += 1;
    else this.conditions.set(where, { holder: state.holding.key, count: 1 });
  }

  removeCondition({ where }: Subscription): void {
    const known = where === undefined ? undefined : this.conditions?.get(where);
    if (known === undefined) return;
    known.count -= 1;
    if (known.count === 0) this.conditions?.delete(where ?? '');
    if (this.conditions?.size === 0) this.conditions = undefined;
  }

  /** The last subscriber takes the removed one's place: their order has no meaning. */
  remove(held: HeldSubscription): void {
    const last = this.subscribers.pop();
    if (last === undefined || last === held) return;
    last.index = held.index;
    this.subscribers[held.index] = last;
  }
}

/** The tree's entry for a topic filter: its subscribers, and its share groups by name. */
export class FilterEntry {
  readonly #topicFilter: string;
  #subscribers: SubscriberList | undefined;
  #groups: Map<string, SubscriberList> | undefined;

  constructor(topicFilter: string) {
    this.#topicFilter = topicFilter;
  }

  get isEmpty(): boolean {
    return this.#subscribers === undefined && this.#groups === undefined;
  }

  find(shareGroup: string | undefined): SubscriberList | undefined {
    return shareGroup === undefined ? this.#subscribers : this.#groups?.get(shareGroup);
  }

  findOrCreate(shareGroup: string | undefined): SubscriberList {
    return this.find(shareGroup) ?? this.#create(shareGroup);
  }

  /** Removes an empty list. */
  delete(shareGroup: string | undefined): void {
    if (shareGroup === undefined) this.#subscribers = undefined;
    else this.#groups?.delete(shareGroup);
    if (this.#groups?.size === 0) this.#groups = undefined;
  }

  collect(matched: MatchedFilter[]): void {
    if (this.#subscribers !== undefined) matched.push(this.#subscribers);
    if (this.#groups !== undefined) matched.push(...this.#groups.values());
  }

  #create(shareGroup: string | undefined): SubscriberList {
    const list = new SubscriberList(this.#topicFilter, shareGroup);
    if (shareGroup === undefined) {
      this.#subscribers = list;
      return list;
    }
    this.#groups ??= new Map();
    this.#groups.set(shareGroup, list);
    return list;
  }
}
