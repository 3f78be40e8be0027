import type { Awaitable, Delivery, Message, QueueLimits, QueueStore, SessionRef } from '@apus/broker';
import type { JournaledStores } from '@apus/store-disk';
import type { Relay } from './relay.ts';

type Inner = JournaledStores['queues'];

/** The queues of this process. They leave out a repetition of a message that another process has begun to deliver. */
export class ClusterQueues {
  readonly #inner: Inner;
  readonly #relay: Relay;

  constructor(inner: Inner, relay: Relay) {
    this.#inner = inner;
    this.#relay = relay;
  }

  offer(
    message: Message,
    deliveries: readonly Delivery[],
    limits: QueueLimits,
    hold?: ReadonlySet<Delivery>,
  ): Awaitable<number> {
    const first =
      message.qos < 2 ? deliveries : deliveries.filter((each) => !this.#relay.isRepeated(message, each));
    return first.length === 0 ? 0 : this.#inner.offer(message, first, limits, hold);
  }

  next: QueueStore['next'] = (...call) => this.#inner.next(...call);
  complete: QueueStore['complete'] = (...call) => this.#inner.complete(...call);
  release: QueueStore['release'] = (...call) => this.#inner.release(...call);
  unacknowledged: QueueStore['unacknowledged'] = (...call) => this.#inner.unacknowledged(...call);
  clear: QueueStore['clear'] = (...call) => this.#inner.clear(...call);
  isIdle = (session: SessionRef): boolean => this.#inner.isIdle(session);
  length: Inner['length'] = (session) => this.#inner.length(session);
  bytes: Inner['bytes'] = (session) => this.#inner.bytes(session);
  inflight: Inner['inflight'] = (session) => this.#inner.inflight(session);
  oldest: Inner['oldest'] = (session) => this.#inner.oldest(session);
}
