import {
  type FilterName,
  type MatchedFilter,
  type SessionRef,
  type SubscribeOutcome,
  type Subscriber,
  type Subscription,
  type SubscriptionStore,
  subscriptionWeight,
} from '@apus/broker';
import { FilterTree } from '@apus/mqtt';
import { FilterEntry, type HeldSubscription } from './filter-entry.ts';
import { HeldSubscriptions } from './held-subscriptions.ts';
import { type MemoryBudget, subscriptionBytes } from './memory-budget.ts';
import type { MemorySession } from './memory-session.ts';
import type { MemorySessions } from './sessions.ts';

const NO_SUBSCRIBERS: readonly Subscriber[] = [];

/** Subscriptions of one session that have a condition. Each message that matches may cost two milliseconds for each. */
export const CONDITIONS_PER_SESSION_MAX = 20;
/** Distinct conditions of a topic filter, or of one of its share groups: each message is compared with all of them. */
export const CONDITIONS_PER_FILTER_MAX = 100;
/** Of these, what one identity brings: others have room. */
export const CONDITIONS_PER_IDENTITY_MAX = 50;

/** Subscriptions in memory: a tree of filters for each tenant, and each session's own list. */
export class MemorySubscriptions implements SubscriptionStore {
  readonly #sessions: MemorySessions;
  readonly #budget: MemoryBudget;
  readonly #trees = new Map<string, FilterTree<FilterEntry>>();
  #count = 0;
  #sharedCount = 0;

  constructor(sessions: MemorySessions, budget: MemoryBudget) {
    this.#sessions = sessions;
    this.#budget = budget;
  }

  /** Subscriptions of all sessions. */
  get count(): number {
    return this.#count;
  }

  /** How many of them are shared. */
  get sharedCount(): number {
    return this.#sharedCount;
  }

  put(ref: SessionRef, subscriptions: readonly Subscription[], maximum: number): SubscribeOutcome[] {
    const session = this.#sessions.live(ref);
    return subscriptions.map((subscription) => this.#put(session, subscription, maximum));
  }

  remove(ref: SessionRef, filters: readonly FilterName[]): boolean[] {
    const session = this.#sessions.live(ref);
    return filters.map((filter) => session !== undefined && this.#remove(session, filter));
  }

  clear(ref: SessionRef): void {
    const session = this.#sessions.live(ref);
    if (session === undefined) return;
    for (const held of session.state.subscriptions?.all() ?? []) this.#unlist(held);
    session.state.subscriptions = undefined;
    this.#sessions.cleared(session);
  }

  match(tenant: string, topicName: string): MatchedFilter[] {
    const matched: MatchedFilter[] = [];
    const entries = this.#trees.get(tenant)?.match(topicName) ?? [];
    for (const entry of entries) entry.collect(matched);
    return matched;
  }

  members(tenant: string, { topicFilter, shareGroup }: FilterName): readonly Subscriber[] {
    return this.#trees.get(tenant)?.get(topicFilter)?.find(shareGroup)?.subscribers ?? NO_SUBSCRIBERS;
  }

  /** Nothing to do: a match returns the session, which has the present connection. */
  moved(): void {}

  list(session: SessionRef): Subscription[] {
    const held = this.#sessions.live(session)?.state.subscriptions?.all() ?? [];
    return held.map(({ subscription }) => subscription);
  }

  #put(session: MemorySession | undefined, subscription: Subscription, maximum: number): SubscribeOutcome {
    // If the authorisation of a SUBSCRIBE took longer than its session lived, no subscriber must be left: it would
    // never be removed.
    if (session === undefined || session.state.hasEnded) return 'added';
    const held = session.state.subscriptions?.get(subscription);
    if (Number.isFinite(maximum) && !this.#mayHaveCondition(session, subscription, held))
      return 'too-many-conditions';
    if (held !== undefined) {
      held.among.addCondition(subscription, session);
      held.among.removeCondition(held.subscription);
      this.#budget.change(subscriptionBytes(subscription) - subscriptionBytes(held.subscription));
      held.subscription = subscription; // [MQTT-3.8.4-3]
      return 'replaced';
    }
    const weight = subscriptionWeight(subscription);
    const { subscriptions } = session.state;
    if ((subscriptions?.weight ?? 0) + weight > maximum || this.#budget.isFull) return 'over-limit';
    // What was granted before is restored without a maximum.
    if (Number.isFinite(maximum) && subscriptions?.hasShapeFor(subscription) === false) return 'over-limit';
    this.#add(session, subscription);
    return 'added';
  }

  #mayHaveCondition(
    { tenant, state: { subscriptions, holding } }: MemorySession,
    { topicFilter, shareGroup, where }: Subscription,
    held: HeldSubscription | undefined,
  ): boolean {
    if (where === undefined || held?.subscription.where === where) return true;
    const others = (subscriptions?.conditional ?? 0) - (held?.subscription.where === undefined ? 0 : 1);
    if (others >= CONDITIONS_PER_SESSION_MAX) return false;
    const known = this.#trees.get(tenant)?.get(topicFilter)?.find(shareGroup)?.conditions;
    if (known === undefined || known.has(where)) return true;
    const own = [...known.values()].filter(({ holder }) => holder === holding.key).length;
    return known.size < CONDITIONS_PER_FILTER_MAX && own < CONDITIONS_PER_IDENTITY_MAX;
  }

  weight(session: SessionRef): number {
    return this.#sessions.live(session)?.state.subscriptions?.weight ?? 0;
  }

  #add(session: MemorySession, subscription: Subscription): void {
    const { topicFilter, shareGroup } = subscription;
    const entry = this.#tree(session.tenant).insert(topicFilter, () => new FilterEntry(topicFilter));
    this.#budget.change(subscriptionBytes(subscription));
    session.state.holding.change('subscriptions', subscriptionWeight(subscription));
    session.state.subscriptions ??= new HeldSubscriptions();
    const among = entry.findOrCreate(shareGroup);
    among.addCondition(subscription, session);
    session.state.subscriptions.add(among.add(session, subscription));
    this.#change(shareGroup, 1);
  }

  #remove({ state }: MemorySession, name: FilterName): boolean {
    const held = state.subscriptions?.get(name);
    if (held === undefined) return false;
    state.subscriptions?.delete(held);
    this.#unlist(held);
    return true;
  }

  /** Removes a subscription from the tree, with a share group or entry that becomes empty. */
  #unlist(held: HeldSubscription): void {
    const { among, session } = held;
    this.#budget.change(-subscriptionBytes(held.subscription));
    session.state.holding.change('subscriptions', -subscriptionWeight(held.subscription));
    const { topicFilter, shareGroup, subscribers } = among;
    this.#change(shareGroup, -1);
    among.removeCondition(held.subscription);
    among.remove(held);
    if (subscribers.length > 0) return;
    const tree = this.#trees.get(session.tenant);
    const entry = tree?.get(topicFilter);
    entry?.delete(shareGroup);
    if (entry?.isEmpty) tree?.delete(topicFilter);
    if (tree?.size === 0) this.#trees.delete(session.tenant);
  }

  #change(shareGroup: string | undefined, by: number): void {
    this.#count += by;
    if (shareGroup !== undefined) this.#sharedCount += by;
  }

  #tree(tenant: string): FilterTree<FilterEntry> {
    const existing = this.#trees.get(tenant);
    if (existing !== undefined) return existing;
    const tree = new FilterTree<FilterEntry>();
    this.#trees.set(tenant, tree);
    return tree;
  }
}
