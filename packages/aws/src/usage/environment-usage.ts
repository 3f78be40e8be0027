import {
  type Clock,
  type Log,
  type ProcessUsageRow,
  reasonOf,
  steadyNow,
  type UsageCounter,
  type UsageCounts,
  type UsageRow,
  UsageTally,
  usageHour,
} from '@apus/broker';
import { inLanes } from '../posts/lanes.ts';

/** The time between two writes of an environment. */
export const FLUSH_EVERY_MS = 10_000;

/**
 * Time of connections that an environment may hold without writing it. A connection is counted when it ends, with its
 * two hours at most: more than an environment that dies may lose.
 */
const UNWRITTEN_CONNECTION_MS_MAX = FLUSH_EVERY_MS;

/** Rows that are written at the same time, where an environment serves many tenants. */
export const PARALLEL_WRITES_MAX = 16;

/** The prefix of the process of rows of storage: each pass of the sweep writes its own rows. */
export const SWEEP_PROCESS = 'sweep-';

/** Where the usage of a deployment is kept. */
export interface UsageStore {
  /** Replaces this environment's row of a tenant and an hour, unless the row there counts more. */
  put(environmentId: string, row: UsageRow): Promise<void>;
  /** Rows of all environments: hours from `from` on and before `to`. */
  rows(from: string, to: string): AsyncIterable<ProcessUsageRow>;
}

export interface EnvironmentUsageOptions {
  readonly store: UsageStore;
  /** Identifies this execution environment. */
  readonly environmentId: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The usage that one execution environment has counted. It stays in memory until the first event that ends ten seconds
 * after the last write, or that has counted a connection of more than ten seconds. Each environment writes rows of its own, whole, so a write that is repeated after a lost
 * answer counts once. An environment that dies loses its last ten seconds.
 */
export class EnvironmentUsage implements UsageCounter {
  readonly #options: EnvironmentUsageOptions;
  readonly #tally: UsageTally;
  readonly #changed = new Set<string>();
  #flushedAtMs = Number.NEGATIVE_INFINITY;
  #unwrittenConnectionMs = 0;

  constructor(options: EnvironmentUsageOptions) {
    this.#options = options;
    this.#tally = new UsageTally(() => options.clock.now());
  }

  add(tenant: string, counts: Partial<UsageCounts>): void {
    this.#tally.add(tenant, counts);
    this.#changed.add(tenant);
    this.#unwrittenConnectionMs += counts.connectionMs ?? 0;
  }

  /** To be called at the end of each event. Never rejects: the next call writes what this one could not. */
  async flushWhenDue(): Promise<void> {
    const isOld = steadyNow(this.#options.clock) - this.#flushedAtMs >= FLUSH_EVERY_MS;
    const isDue = isOld || this.#unwrittenConnectionMs > UNWRITTEN_CONNECTION_MS_MAX;
    if (this.#changed.size > 0 && isDue) await this.flush();
  }

  /** @param store another client for the same table: that of a frozen environment does not work */
  async flush(store = this.#options.store): Promise<void> {
    const { environmentId, clock, log } = this.#options;
    this.#flushedAtMs = steadyNow(clock);
    const hour = usageHour(clock.now());
    const changed = new Set(this.#changed);
    const isDue = (row: UsageRow): boolean => row.hour < hour || changed.has(row.tenant);
    this.#changed.clear();
    this.#unwrittenConnectionMs = 0;
    try {
      await inLanes(PARALLEL_WRITES_MAX, this.#tally.rows.filter(isDue), (row) =>
        store.put(environmentId, row),
      );
      this.#tally.takeBefore(hour);
    } catch (error) {
      for (const tenant of changed) this.#changed.add(tenant);
      log.warn('usage-not-written', { error: reasonOf(error) });
    }
  }
}
