import type { Clock } from '@apus/broker';
import type { DynamoStores } from '@apus/store-dynamodb';
import type { InvocationContext } from '../events/gateway.ts';
import { sessionsOf } from '../operator/table-walk.ts';
import { ApiProblem } from './api-problem.ts';

/** A request with less time left gives up the walk over the table. */
const RESERVE_MS = 15_000;

/** A walk reads every session, so its counts serve later requests for this long. */
const KEPT_MS = 60_000;

const TENANTS_MAX = 1_000;

export interface Counts {
  sessions: number;
  connected: number;
}

/** Sessions and connections of tenants, counted by a walk over the table and kept for a minute. */
export class TenantCounts {
  readonly #scan: DynamoStores['sweepScan'];
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly counts: Counts; readonly untilMs: number }>();

  constructor(scan: DynamoStores['sweepScan'], clock: Clock) {
    this.#scan = scan;
    this.#clock = clock;
  }

  /** @throws {ApiProblem} if there is not enough time for the walk */
  async of(tenant: string, invocation: InvocationContext): Promise<Counts> {
    const nowMs = this.#clock.now();
    const known = this.#kept.get(tenant);
    if (known !== undefined && known.untilMs > nowMs) return known.counts;
    const counts = await this.#count(tenant, () => invocation.getRemainingTimeInMillis() > RESERVE_MS);
    if (this.#kept.size >= TENANTS_MAX) this.#kept.clear();
    this.#kept.set(tenant, { counts, untilMs: nowMs + KEPT_MS });
    return counts;
  }

  async #count(tenant: string, hasTime: () => boolean): Promise<Counts> {
    const counts: Counts = { sessions: 0, connected: 0 };
    for await (const sessions of sessionsOf(this.#scan)) {
      const own = sessions.filter((session) => session.tenant === tenant);
      counts.sessions += own.length;
      counts.connected += own.filter(({ connectionId }) => connectionId !== undefined).length;
      if (!hasTime())
        throw new ApiProblem('SERVICE_UNAVAILABLE', 'The time was not enough to count all sessions.');
    }
    return counts;
  }
}
