import type { Subscriber } from '@apus/broker';
import type { ShardName, ShardRange, SubscriberSlice } from '@apus/store-dynamodb';

export interface ShardReader {
  readShard(shard: ShardName, range: ShardRange): Promise<SubscriberSlice>;
}

/**
 * Slices that one Query reads. Three of 500 are a full shard with the subscribers that joined before it grew; a Query
 * for each slice would cost a tenth of a worker's CPU.
 */
const SLICES_READ_AHEAD = 3;

const NOTHING: SubscriberSlice = { subscribers: [], end: undefined, next: undefined };

/** Reads a shard in slices. */
export class SliceReader {
  readonly #shards: ShardReader;
  readonly #shard: ShardName;
  #after: string | undefined;
  #page: SubscriberSlice = NOTHING;
  #isLastPage = false;

  constructor(shards: ShardReader, shard: ShardName, after: string | undefined) {
    this.#shards = shards;
    this.#shard = shard;
    this.#after = after;
  }

  /** Subscribers that were read, and not taken yet. */
  get ahead(): number {
    return this.#page.subscribers.length;
  }

  /** The next subscribers, at most `limit`. `next` is undefined if these are the last. */
  async next(limit: number): Promise<SubscriberSlice> {
    if (this.#page.subscribers.length === 0 && !this.#isLastPage) await this.#read(limit * SLICES_READ_AHEAD);
    const { subscribers, end, next } = this.#page;
    if (subscribers.length <= limit) {
      this.#page = NOTHING;
      return { subscribers, end, next };
    }
    this.#page = { subscribers: subscribers.slice(limit), end, next };
    const taken = subscribers.slice(0, limit);
    const last = keyOf(taken.at(-1));
    return { subscribers: taken, end: last, next: last };
  }

  async #read(limit: number): Promise<void> {
    this.#page = await this.#shards.readShard(this.#shard, { after: this.#after, limit });
    this.#after = this.#page.next;
    this.#isLastPage = this.#page.next === undefined;
  }
}

/** The key of a subscriber in its shard: its incarnation. */
function keyOf(subscriber: Subscriber | undefined): string | undefined {
  return subscriber?.session.incarnation;
}
