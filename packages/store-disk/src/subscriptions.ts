import type {
  Awaitable,
  FilterName,
  MatchedFilter,
  SessionRef,
  SubscribeOutcome,
  Subscriber,
  Subscription,
  SubscriptionStore,
} from '@apus/broker';
import type { MemorySubscriptions } from '@apus/store-memory';
import { subscriptionCodec } from './codec.ts';
import type { DurableSessions } from './durable-sessions.ts';
import { subscriptionKey } from './keys.ts';
import type { Writer } from './writer.ts';

/** Subscriptions in memory, and those of durable sessions on the disk as well. */
export class DiskSubscriptions implements SubscriptionStore {
  readonly #memory: MemorySubscriptions;
  readonly #durables: DurableSessions;
  readonly #writer: Writer;

  constructor(memory: MemorySubscriptions, durables: DurableSessions, writer: Writer) {
    this.#memory = memory;
    this.#durables = durables;
    this.#writer = writer;
  }

  get count(): number {
    return this.#memory.count;
  }

  get sharedCount(): number {
    return this.#memory.sharedCount;
  }

  put(
    session: SessionRef,
    subscriptions: readonly Subscription[],
    maximum: number,
  ): Awaitable<readonly SubscribeOutcome[]> {
    const durable = this.#durables.living(session);
    if (durable === undefined) return this.#memory.put(session, subscriptions, maximum);
    this.#writer.assertWorking();
    const outcomes = this.#memory.put(session, subscriptions, maximum);
    for (const [index, subscription] of subscriptions.entries()) {
      if (outcomes[index] === 'over-limit') continue;
      this.#writer.put(subscriptionKey(durable.number, subscription), subscriptionCodec.encode(subscription));
    }
    return this.#writer.durable(outcomes);
  }

  remove(session: SessionRef, filters: readonly FilterName[]): Awaitable<readonly boolean[]> {
    const durable = this.#durables.living(session);
    if (durable === undefined) return this.#memory.remove(session, filters);
    this.#writer.assertWorking();
    const existed = this.#memory.remove(session, filters);
    for (const [index, name] of filters.entries()) {
      if (existed[index]) this.#writer.remove(subscriptionKey(durable.number, name));
    }
    return this.#writer.durable(existed);
  }

  clear(session: SessionRef): Awaitable<void> {
    const durable = this.#durables.living(session);
    const held = durable === undefined ? [] : this.#memory.list(session);
    this.#memory.clear(session);
    if (durable === undefined) return;
    for (const name of held) this.#writer.remove(subscriptionKey(durable.number, name));
    return this.#writer.accepted(undefined);
  }

  match(tenant: string, topicName: string): readonly MatchedFilter[] {
    return this.#memory.match(tenant, topicName);
  }

  members(tenant: string, filter: FilterName): readonly Subscriber[] {
    return this.#memory.members(tenant, filter);
  }

  /** The weight of all subscriptions of one session. */
  weight(session: SessionRef): number {
    return this.#memory.weight(session);
  }

  /** Nothing to do: a match returns the session, which has the present connection. */
  moved(): void {}

  list(session: SessionRef): readonly Subscription[] {
    return this.#memory.list(session);
  }
}
