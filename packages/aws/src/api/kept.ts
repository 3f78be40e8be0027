import { type Clock, steadyNow } from '@apus/broker';

/** A walk reads every session, so its result serves later requests for this long. */
const KEPT_MS = 60_000;

/** What was found for each tenant, for a minute. */
export class Kept<T> {
  readonly #clock: Clock;
  readonly #tenantsMax: number;
  readonly #kept = new Map<string, { readonly value: T; readonly untilMs: number }>();

  constructor(clock: Clock, tenantsMax: number) {
    this.#clock = clock;
    this.#tenantsMax = tenantsMax;
  }

  async of(tenant: string, find: () => Promise<T>): Promise<T> {
    const nowMs = steadyNow(this.#clock);
    const known = this.#kept.get(tenant);
    if (known !== undefined && known.untilMs > nowMs) return known.value;
    const value = await find();
    if (this.#kept.size >= this.#tenantsMax) this.#kept.clear();
    this.#kept.set(tenant, { value, untilMs: nowMs + KEPT_MS });
    return value;
  }
}
