import { type FilterName, type Subscription, subscriptionWeight } from '@apus/broker';
import { shapeOf } from '@apus/mqtt';
import type { HeldSubscription } from './filter-entry.ts';

/** Up to this many subscriptions a search is as fast as a map, and takes a fraction of its memory. */
const SEARCH_MAX = 8;

/**
 * Shapes of the filters of one session (`a/+` and `b/+` have one shape). Of the filters of a shape one at most matches a
 * topic, so a message matches this many filters of a session at most. A deployment has as many for a whole tenant.
 */
export const FILTER_SHAPES_MAX = 64;

/** The subscriptions of one session. Most sessions hold a few, so there is no map until there are many. */
export class HeldSubscriptions {
  #list: HeldSubscription[] = [];
  #map: Map<string, HeldSubscription> | undefined;
  #weight = 0;
  /** How many filters have each shape. Made with the map: few filters have few shapes. */
  #shapes: Map<string, number> | undefined;

  /** Their weight together. */
  get weight(): number {
    return this.#weight;
  }

  get(name: FilterName): HeldSubscription | undefined {
    if (this.#map !== undefined) return this.#map.get(keyOf(name));
    return this.#list.find(({ subscription }) => isNamed(subscription, name));
  }

  /** Whether one more filter would match no topic that too many of the others match, too [SEC-WORK-1]. */
  hasShapeFor({ topicFilter }: FilterName): boolean {
    if (this.#shapes === undefined || this.#shapes.size < FILTER_SHAPES_MAX) return true;
    return this.#shapes.has(shapeOf(topicFilter));
  }

  /** How many have a condition. */
  get conditional(): number {
    return this.all().reduce(
      (count, { subscription }) => count + (subscription.where === undefined ? 0 : 1),
      0,
    );
  }

  add(held: HeldSubscription): void {
    this.#weight += subscriptionWeight(held.subscription);
    if (this.#map === undefined && this.#list.length === SEARCH_MAX) {
      this.#map = new Map(this.#list.map((each) => [keyOf(each.subscription), each]));
      this.#shapes = new Map();
      for (const each of this.#list) this.#countShape(each, 1);
      this.#list = [];
    }
    this.#countShape(held, 1);
    if (this.#map !== undefined) this.#map.set(keyOf(held.subscription), held);
    // With the exact length: a push would take room for seventeen.
    else this.#list = this.#list.concat(held);
  }

  delete(held: HeldSubscription): void {
    this.#weight -= subscriptionWeight(held.subscription);
    this.#countShape(held, -1);
    if (this.#map === undefined) this.#list.splice(this.#list.indexOf(held), 1);
    else this.#map.delete(keyOf(held.subscription));
  }

  #countShape({ subscription }: HeldSubscription, by: 1 | -1): void {
    if (this.#shapes === undefined) return;
    const shape = shapeOf(subscription.topicFilter);
    const count = (this.#shapes.get(shape) ?? 0) + by;
    if (count === 0) this.#shapes.delete(shape);
    else this.#shapes.set(shape, count);
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
