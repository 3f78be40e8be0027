import { type FilterName, type Subscription, subscriptionWeight } from '@apus/broker';
import type { HeldSubscription } from './filter-entry.ts';

/** Up to this many subscriptions a search is as fast as a map, and takes a fraction of its memory. */
const SEARCH_MAX = 8;

/** The subscriptions of one session. Most sessions hold a few, so there is no map until there are many. */
export class HeldSubscriptions {
  #list: HeldSubscription[] = [];
  #map: Map<string, HeldSubscription> | undefined;
  #weight = 0;

  /** Their weight together. */
  get weight(): number {
    return this.#weight;
  }

  get(name: FilterName): HeldSubscription | undefined {
    if (this.#map !== undefined) return this.#map.get(keyOf(name));
    return this.#list.find(({ subscription }) => isNamed(subscription, name));
  }

  add(held: HeldSubscription): void {
    this.#weight += subscriptionWeight(held.subscription);
    if (this.#map === undefined && this.#list.length === SEARCH_MAX) {
      this.#map = new Map(this.#list.map((each) => [keyOf(each.subscription), each]));
      this.#list = [];
    }
    if (this.#map !== undefined) this.#map.set(keyOf(held.subscription), held);
    // With the exact length: a push would take room for seventeen.
    else this.#list = this.#list.concat(held);
  }

  delete(held: HeldSubscription): void {
    this.#weight -= subscriptionWeight(held.subscription);
    if (this.#map === undefined) this.#list.splice(this.#list.indexOf(held), 1);
    else this.#map.delete(keyOf(held.subscription));
  }

  all(): HeldSubscription[] {
    return this.#map === undefined ? [...this.#list] : [...this.#map.values()];
  }
}

function isNamed(subscription: Subscription, { topicFilter, shareGroup }: FilterName): boolean {
  return subscription.topicFilter === topicFilter && subscription.shareGroup === shareGroup;
}

/** The filter as the client wrote it. No other filter may begin with `$share/`. */
function keyOf({ topicFilter, shareGroup }: FilterName): string {
  return shareGroup === undefined ? topicFilter : `$share/${shareGroup}/${topicFilter}`;
}
