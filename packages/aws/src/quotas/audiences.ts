import { type Clock, steadyNow, type WideFilter } from '@apus/broker';
import type { ShardName } from '@apus/store-dynamodb';

/** Audiences that are cached, and for how long: counting one reads a shard. */
const AUDIENCES_MAX = 1_000;
const AUDIENCE_MS = 60_000;

/** Counts the subscribers of a shard: `stores.subscriptions`. */
export interface ShardCounter {
  countShard(shard: ShardName): Promise<number>;
}

/** The number of subscribers in the shards of a filter, as counted last. */
interface Audience {
  readonly shards: number;
  readonly subscribers: number;
  readonly countedAtMs: number;
}

/** About how many subscribers stand in the shards of wide filters. */
export class Audiences {
  readonly #shards: ShardCounter;
  readonly #clock: Clock;
  readonly #audiences = new Map<string, Audience>();

  constructor(shards: ShardCounter, clock: Clock) {
    this.#shards = shards;
    this.#clock = clock;
  }

  async of({ tenant, topicFilter, shards }: WideFilter): Promise<number> {
    const key = `${tenant}\0${topicFilter}`;
    const nowMs = steadyNow(this.#clock);
    const known = this.#audiences.get(key);
    if (known?.shards === shards && nowMs - known.countedAtMs < AUDIENCE_MS) return known.subscribers;
    const counts = await Promise.all(
      samplesOf(shards).map(async ({ shard, alike }) => {
        return alike * (await this.#shards.countShard({ tenant, topicFilter, shard }));
      }),
    );
    const subscribers = counts.reduce((sum, each) => sum + each, 0);
    if (this.#audiences.size >= AUDIENCES_MAX) this.#audiences.clear();
    this.#audiences.set(key, { shards, subscribers, countedAtMs: nowMs });
    return subscribers;
  }
}

/**
 * Samples one shard for all that came with the same doubling: no subscriber is moved, so they are about equally full,
 * and fuller than later ones.
 *
 *     shards 0 | 1 | 2 3 | 4 5 6 7     samples 0, 1, 2 for two, 4 for four
 */
function samplesOf(shards: number): { readonly shard: number; readonly alike: number }[] {
  const samples = [{ shard: 0, alike: 1 }];
  for (let shard = 1; shard < shards; shard *= 2) samples.push({ shard, alike: shard });
  return samples;
}
